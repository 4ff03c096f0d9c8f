"""Sources of embedding archives: fetched, verified, unpacked; never installed, never imported.

A kind of source is one file in this package. `REGISTRY` maps a source's `type` to its kind, which defines the
keys.
"""

from .fetching import discard, fetch, verify
from .kinds import REGISTRY, check
from .manifest import read_manifest
from .pretrained import PRETRAINED
from .source import Key, Source
from .trust import files_on_trust, fits, is_same, without_pins

__all__ = [
    "PRETRAINED",
    "REGISTRY",
    "Key",
    "Source",
    "check",
    "discard",
    "fetch",
    "files_on_trust",
    "fits",
    "is_same",
    "read_manifest",
    "verify",
    "without_pins",
]
