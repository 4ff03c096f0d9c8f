"""The version of biasgrid."""

__version__ = "0.1.0"
