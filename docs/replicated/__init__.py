"""What each block of a replication page says, and the CSV files beside the pages, by study and name.

A block is a function that reads a study's tables and returns Markdown. A file is one that returns the head and the
rows of docs/numbers/<name>.csv.
"""

from . import (
    bolukbasi,
    caliskan,
    maddalozzo,
    maddalozzo_chapter4,
    multilingual,
    schroeder,
    sweeney,
    wefe_documentation,
)

MODULES = (
    bolukbasi,
    caliskan,
    maddalozzo,
    maddalozzo_chapter4,
    multilingual,
    schroeder,
    sweeney,
    wefe_documentation,
)
BLOCKS = {key: block for module in MODULES for key, block in module.BLOCKS.items()}
TABLES = {key: table for module in MODULES for key, table in getattr(module, "TABLES", {}).items()}
