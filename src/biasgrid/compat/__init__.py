"""Compatibility with other libraries: their names for this library's functions, for scripts written for them."""
