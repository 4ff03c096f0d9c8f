"""A study: its config, its grid of cells, the steps that make its files, and its results in Python.

`config` reads and checks YAML, `study` has the resolved study, and `steps` plans each step. `in_memory` measures a
grid without files, `results` reads a finished study, and `views` shows both. `memory_paths` finds results of both.
Scores are computed in `measure`.
"""
