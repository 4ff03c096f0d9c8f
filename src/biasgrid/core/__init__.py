"""Basics of the library: errors, files, YAML and JSON, registries, packaged data, and numbers as people read them.

Everything here is independent of queries, models and metrics. Code that knows one of these belongs in its own folder.
The other folders import what they need from the modules of this one.
"""
