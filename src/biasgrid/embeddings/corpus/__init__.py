"""Corpora: texts whose words are looked up with all their places."""
