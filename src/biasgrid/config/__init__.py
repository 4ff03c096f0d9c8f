"""Configs of studies, simulations and planted-bias benchmarks: what they may hold, and how they are read."""
