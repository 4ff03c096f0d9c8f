"""What the Snakemake workflows share: reading a config, running steps, locks, reports of what failed."""
