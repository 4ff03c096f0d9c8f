"""A study: its config, its grid of cells, the steps that make its files, and grids in memory.

`config` reads and checks YAML, `study` has the resolved study, and `steps` plans each step. `measure_grid` measures a
grid without files, and `finished` reads the results of a run. Nothing here computes a score: that is in `measure`.
"""
