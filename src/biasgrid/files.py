"""Writing files so that a killed process leaves the old one or the new one, never half of it."""

import os
import tempfile
from pathlib import Path


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text beside `path` and move it in."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp makes the file private; give it what the user's umask says
        os.chmod(aside, 0o666 & ~_UMASK)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise


_UMASK = os.umask(0)
os.umask(_UMASK)
