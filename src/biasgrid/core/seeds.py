"""Seeds of steps, computed from a study's seed."""

from __future__ import annotations

import hashlib


def seed_of(study_seed: int, name: str) -> int:
    """Compute a step's seed from the study's seed and the step's name: the same on any machine, in any order."""
    return int.from_bytes(hashlib.sha256(f"{study_seed}/{name}".encode()).digest()[:4], "big")
