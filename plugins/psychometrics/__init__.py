"""Psychometrics of word scores: multitrait-multimethod matrix, variance components, measures from outside."""
