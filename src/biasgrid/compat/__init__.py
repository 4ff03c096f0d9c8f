"""Names of other libraries for the functions of this one, for scripts written for them: `wefe` has those of WEFE.

Nothing else of biasgrid imports this folder.
"""
