"""A virtual environment with WEFE 1.0.1, to compare with: benchmarks/.env/wefe, made once and then reused.

python benchmarks/wefe_environment.py      prints its Python interpreter
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).with_name(".env") / "wefe"
# WEFE 1.0.1 uses what numpy 2 removed
REQUIREMENTS = ("wefe==1.0.1", "numpy<2")


def python() -> Path:
    """The interpreter of the environment, which is made if there is none. Raises CalledProcessError."""
    interpreter = FOLDER / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    finished = FOLDER / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS) + "\n"
    if not finished.exists() or finished.read_text() != wanted:
        print(f"making {FOLDER} with {', '.join(REQUIREMENTS)}", file=sys.stderr)
        venv.create(FOLDER, clear=True, with_pip=True)
        subprocess.run(
            [interpreter, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True, stdout=sys.stderr
        )
        # written last: half an environment is made anew
        finished.write_text(wanted)
    return interpreter


if __name__ == "__main__":
    print(python())
