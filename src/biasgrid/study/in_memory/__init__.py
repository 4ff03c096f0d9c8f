"""Grids in memory: `measure_grid` measures metrics on queries and models as a study does, without files."""
