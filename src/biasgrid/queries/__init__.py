"""Queries and the word sets that they consist of.

A query compares target sets with attribute sets. This folder has the classes, and knows neither models nor metrics.
The word sets that come with biasgrid are files in data/word_sets.
"""
