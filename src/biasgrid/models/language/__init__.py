"""Language models: scores of texts, and vectors of words in contexts."""
