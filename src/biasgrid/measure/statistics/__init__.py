"""Statistics of arrays, without knowledge of studies, files or metrics."""
