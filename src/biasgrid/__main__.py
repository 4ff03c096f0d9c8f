import os
import sys

# `python -m biasgrid` puts the working folder first on the path, where another person's study may have modules.
if sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from .cli import main

raise SystemExit(main())
