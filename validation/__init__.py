"""Experiments that validate biasgrid as an instrument: validation/README.md

They test whether its p-values are calibrated and whether its metrics recover a known bias, and examine the metrics'
limitations. The experiments use biasgrid, but biasgrid does not use them.
"""
