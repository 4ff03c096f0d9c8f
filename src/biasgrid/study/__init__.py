"""A study: its config, its grid of cells, the steps that make its files, and grids in memory.

`config` reads and checks YAML, `study` has the resolved study, and `steps` plans each step. `measure_grid` measures a
grid without files, and `finished_study` reads the results of a run. Scores are computed in `measure`.
"""
