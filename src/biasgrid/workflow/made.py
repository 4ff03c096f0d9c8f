"""What steps were made of, so that one whose files have the same bytes as then is not made again.

A note of each step lies beside the logs (logs/<study>/made): losing it costs a run of the step.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..files import hash_file, write_text
from ..plan.step import Step


class Made:
    """The notes of a study's steps.

    Parameters
    ----------
    logs
        The folder of the steps' logs.
    """

    def __init__(self, logs: Path):
        self._logs = logs
        # tables read the same files
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def digest(self, step: Step) -> str:
        """Of all that a step is made of: its spec, its code, and the bytes of its files."""
        parts = [step.depends_on, *(f"{file} {self._hash(file)}" for file in step.files)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def note(self, step: Step, log: str, digest: str, warnings: list[str]) -> None:
        """Note what a step was made of, what it wrote, and what it warned of."""
        outputs = list(map(self._hash, step.outputs))
        record = {"made_of": digest, "outputs": outputs, "warnings": warnings, "depends_on": step.depends_on}
        write_text(self._note(log), json.dumps(record, ensure_ascii=False))

    def warnings(self, step: Step, log: str, digest: str) -> list[str] | None:
        """What a step warned of when it was made of the same; None where it was not, or has lost its outputs."""
        note = self._read(log)
        same = note.get("made_of") == digest and note.get("outputs") == list(map(self._hash, step.outputs))
        return list(note["warnings"]) if same and isinstance(note.get("warnings"), list) else None

    def former_dependence(self, log: str) -> str:
        """What a step depended on besides its files when it was made (`Step.depends_on`); "" without a note."""
        return str(self._read(log).get("depends_on", ""))

    def _read(self, log: str) -> dict[str, Any]:
        """The note of a step; empty where there is none that is whole."""
        try:
            return dict(json.loads(self._note(log).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return {}

    def forget(self, log: str) -> None:
        """Forget what the step of a log was made of."""
        self._note(log).unlink(missing_ok=True)

    def _note(self, log: str) -> Path:
        return self._logs / "made" / Path(log).relative_to(self._logs).with_suffix(".json")

    def _hash(self, file: str) -> str:
        """Of a file's bytes; of one that is not there, nothing."""
        with suppress(OSError):
            state = Path(file).stat()
            key = (state.st_mtime_ns, state.st_size, state.st_ino)
            if self._known.get(file, ((), ""))[0] != key:
                self._known[file] = key, hash_file(file)
            return self._known[file][1]
        return ""
