"""Sharing of results: a folder to deposit, and several such folders in one ranking."""
