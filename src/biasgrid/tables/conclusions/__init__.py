"""Conclusions from a study's tables, by one rule each, for every page, figure and message."""
