"""Report of a study: the results, their uncertainty, and the reasons for missing values."""
