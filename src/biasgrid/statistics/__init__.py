"""Statistics of arrays: no study, no file, no metric."""
