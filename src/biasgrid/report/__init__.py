"""The page of a study: what came out, how sure it is, and why what is missing is missing."""
