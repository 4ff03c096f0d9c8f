"""Psychometrics of word scores: multitrait-multimethod matrix, variance components, validity, omega."""
