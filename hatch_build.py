"""The stubs of metrics and debias methods (docs/stubs.py), made when the wheel is built or a checkout is installed.

They are made in a process of its own, with the dependencies, as docs/stubs.py imports the package.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stubs(BuildHookInterface):
    """Writes the stubs beside the code; they are `artifacts` of the wheel, as git ignores them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        environment = os.environ | {"PYTHONPATH": str(root / "src")}
        subprocess.run([sys.executable, root / "docs" / "stubs.py"], check=True, env=environment)
