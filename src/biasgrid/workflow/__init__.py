"""A run of Snakemake around its steps: checks before it, stores of models, messages, and why a step is made again.

The rules in workflow/ and `biasgrid run` call these functions. What a step computes belongs in its own folder.
"""
