"""Queries and the word sets that they consist of.

A query compares target sets with attribute sets. This folder has the classes, and knows neither models nor metrics.
Files with word sets are in data/, and `bg.word_sets` reads them.
"""
