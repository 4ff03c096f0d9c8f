"""Measurements of a model in a study, each in a file: cells, scores of sentences, frequencies of words."""
