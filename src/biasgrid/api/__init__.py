"""The public Python interface: everything that `import biasgrid` offers."""
