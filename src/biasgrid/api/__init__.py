"""The public Python interface: what `import biasgrid` offers."""
