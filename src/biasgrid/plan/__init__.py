"""Plans of studies: their steps, the dependencies of each step, and the paths of its files."""
