"""Corpora: texts whose words are looked up with all places that they stand at."""
