"""Psychometrics of word scores: convergent validity, variance components, omega."""
