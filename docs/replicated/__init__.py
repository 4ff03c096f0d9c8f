"""What each block of a replication page says, by study and name: functions that read a study's tables and return
Markdown."""

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
