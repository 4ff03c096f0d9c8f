"""Compiled templates of a process: compiling them for each report would take a quarter of its time."""

from __future__ import annotations

from types import CodeType

from jinja2.bccache import Bucket, BytecodeCache

# Compiled code by a template's name and file, and by its checksum.
CODE: dict[tuple[str, str], CodeType] = {}


class Compiled(BytecodeCache):
    """Cache of compiled templates in memory."""

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = CODE.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            CODE[bucket.key, bucket.checksum] = bucket.code
