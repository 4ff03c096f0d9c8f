"""The page of a study: results/<study>/report.html."""
