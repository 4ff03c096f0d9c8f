"""Finished studies: their folders of results are read and checked, without code of their plugins."""
