"""The door for Python: what `import biasgrid` hands out."""
