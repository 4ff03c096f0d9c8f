"""Corpora: texts in which words are looked up with all their positions."""
