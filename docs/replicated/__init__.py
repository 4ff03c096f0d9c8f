"""What each block of a replication page says, by study and name: functions that read a study's tables and return
Markdown."""

from . import schroeder

BLOCKS = {**schroeder.BLOCKS}
