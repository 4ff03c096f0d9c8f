"""What all folders share: errors, files, YAML and JSON, registries, packaged data, numbers as people read them.

Nothing here imports another folder of biasgrid. Code that one folder alone needs belongs in that folder.
"""
