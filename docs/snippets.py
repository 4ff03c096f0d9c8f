"""The Python of README.md, held against the types of the door by mypy: `make lint`."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from mypy import api

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(import biasgrid as bg\n.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Check the blocks that start with `import biasgrid as bg`; returns the exit code."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    if not blocks:
        sys.exit("README.md has no Python that starts with `import biasgrid as bg`")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"snippet_{number}.py") for number in range(len(blocks))]
        for file, block in zip(files, blocks, strict=True):
            file.write_text(block)
        found, wrong, code = api.run(["--strict", "--follow-imports=silent", *map(str, files)])
    print(found or wrong, end="")
    return code


if __name__ == "__main__":
    sys.exit(main())
