"""Templates that a process has compiled: to do it for each page takes a quarter of a page's time."""

from __future__ import annotations

from types import CodeType

from jinja2.bccache import Bucket, BytecodeCache

CODE: dict[tuple[str, str], CodeType] = {}  # by a template's name and file, and by what is in it


class Compiled(BytecodeCache):
    """Keeps code in memory."""

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = CODE.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            CODE[bucket.key, bucket.checksum] = bucket.code
