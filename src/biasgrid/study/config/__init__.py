"""Configs of studies, simulations and planted-bias benchmarks: their contents, and how they are read."""
