"""A study: its config, its grid of cells, the steps that make its files, and the paths of these files.

`config` reads and checks YAML, `study` has the resolved study, and `steps` plans each step. Nothing here computes a
score or reads a model: steps name the functions of other folders that do so.
"""
