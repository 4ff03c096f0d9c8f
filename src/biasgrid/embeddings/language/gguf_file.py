"""A GGUF file: what it says of its model, and its tensors as float32.

The header is read here, within the file's bounds, so that a damaged one ends in a line and takes no memory; the
`gguf` package knows the quantised types of tensors.
"""

from __future__ import annotations

import math
import mmap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounded import parser_errors
from ...errors import BiasgridError
from ...extras import require

MAGIC = b"GGUF"
VERSIONS = 2, 3  # 1 had shorter numbers
TYPES = {
    0: "u1",
    1: "i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    7: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}
STRING, ARRAY = 8, 9
ALIGNMENT = "general.alignment", 32


@dataclass(frozen=True)
class Tensor:
    """A tensor's shape, rows first; the number of its type; where it begins, in bytes after the header."""

    shape: tuple[int, ...]
    type: int
    start: int


@dataclass(frozen=True)
class GgufFile:
    """A GGUF file; `open` reads its header.

    Attributes
    ----------
    path
        The file.
    fields
        What it says of the model: numbers, texts, and lists of these.
    tensors
        Its tensors by their names.
    data
        Where the tensors begin, in bytes.
    """

    path: Path
    fields: dict[str, Any]
    tensors: dict[str, Tensor]
    data: int

    @classmethod
    def open(cls, path: Path) -> GgufFile:
        """Read a file's header. Raises BiasgridError for one that is damaged, or no GGUF."""
        with (
            parser_errors(path, "no whole GGUF file"),
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            header = _Header(content)
            if (magic := header.take(4)) != MAGIC:
                raise ValueError(f"it begins with {magic!r}")
            if (version := header.number("<u4")) not in VERSIONS:
                raise ValueError(f"version {version} of GGUF is not known")
            tensor_count, field_count = header.number("<u8"), header.number("<u8")
            fields = {header.text(): header.value(header.number("<u4")) for _ in range(field_count)}
            tensors = {header.text(): header.tensor() for _ in range(tensor_count)}
            alignment = fields.get(*ALIGNMENT)
            return cls(path, fields, tensors, -(-header.place // alignment) * alignment)

    def array(self, name: str) -> NDArray[np.float32]:
        """A tensor. Raises BiasgridError for one that is missing, damaged, or of a type that is not known."""
        require("gguf", "a .gguf file")
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
        from gguf.quants import dequantize

        if name not in self.tensors:
            raise BiasgridError(f"{self.path}: has no tensor {name}")
        tensor = self.tensors[name]
        with parser_errors(self.path, f"tensor {name} cannot be read"):
            type = GGMLQuantizationType(tensor.type)
            values, size = GGML_QUANT_SIZES[type]  # of a block
            blocks, rest = divmod(tensor.shape[-1], values)
            count = math.prod(tensor.shape[:-1]) * blocks * size
            start = self.data + tensor.start
            if rest or start + count > len(self._content):
                raise ValueError(
                    "the file ends before it" if not rest else f"a row is no whole blocks of {type.name}"
                )
            rows = self._content[start : start + count].reshape(-1, blocks * size)
            return dequantize(rows, type).astype(np.float32, copy=False).reshape(tensor.shape)

    @cached_property
    def _content(self) -> NDArray[np.uint8]:
        return np.memmap(self.path, dtype=np.uint8, mode="r")


class _Header:
    """Reads a header's values in order. Raises ValueError where the file ends before one."""

    def __init__(self, content: mmap.mmap):
        self.content, self.place = content, 0

    def take(self, count: int) -> bytes:
        if count > len(self.content) - self.place:
            raise ValueError("it is cut off")
        self.place += count
        return self.content[self.place - count : self.place]

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.take(count * np.dtype(dtype).itemsize), dtype)

    def number(self, dtype: str) -> Any:
        return self.array(dtype, 1).item()

    def text(self) -> str:
        return self.take(self.number("<u8")).decode("utf-8")

    def value(self, type: int) -> Any:
        if type == STRING:
            return self.text()
        if type != ARRAY:
            return self.number(TYPES[type])
        item_type, count = self.number("<u4"), self.number("<u8")
        return (
            [self.text() for _ in range(count)]
            if item_type == STRING
            else self.array(TYPES[item_type], count).tolist()
        )

    def tensor(self) -> Tensor:
        shape = self.array("<u8", self.number("<u4")).tolist()
        return Tensor(tuple(reversed(shape)), self.number("<u4"), self.number("<u8"))
