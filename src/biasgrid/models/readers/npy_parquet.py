"""Reader of a folder with one .npy (one row per word) and one .parquet (one column of words, in the same order).

Parquet declares the size of each page in a header, and Arrow allocates the declared size. So the pages'
headers are read first, and Arrow reads only a file whose pages together stay below the limit on expansion.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, join_names
from ...core.extras import require
from ...core.untrusted import expansion_limit, parser_errors, too_large
from ..store_writer import StoreWriter
from .files import blocks, load_array
from .reader import Reader

METADATA = 512 << 10  # bytes; a list of millions of words needs only some thousands
# PLAIN, PLAIN_DICTIONARY, RLE, DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY: a value is stored whole or looked up.
ENCODINGS = (0, 2, 3, 6, 8)
DAMAGED = "is not a whole Parquet file"


def read(folder: Path, writer: StoreWriter) -> None:
    paths = {}
    for extension in ("npy", "parquet"):
        matches = sorted(folder.glob(f"*.{extension}"))
        if len(matches) != 1:
            raise BiasgridError(f"{folder}: expected one .{extension} file, found {len(matches)}")
        paths[extension] = matches[0]
    vectors = load_array(paths["npy"])
    words = _words(paths["parquet"], len(vectors), folder, paths["npy"].name)
    for part in blocks(vectors):
        writer.add(words[part], vectors[part])


def _words(path: Path, rows: int, folder: Path, npy_name: str) -> list[str]:
    require("pyarrow", f"{path}: reading Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        footer = file.read()
        # Arrow's objects take up to 800 times the size of their metadata in the file.
        if len(footer) == 8 and footer[4:] == b"PAR1" and int.from_bytes(footer[:4], "little") > METADATA:
            raise BiasgridError(f"{path}: {DAMAGED}, or has more than {METADATA} bytes of metadata")
        with parser_errors(path, DAMAGED):
            table = pq.ParquetFile(
                file, thrift_string_size_limit=METADATA, thrift_container_size_limit=max(1000, size // 8)
            )
            schema = table.schema_arrow
            names = schema.names
            groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
            is_text = [pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in schema.types]
        texts = [name for name, text in zip(names, is_text, strict=True) if text]
        if len(texts) != 1:
            raise BiasgridError(
                f"{path}: expected one column of text, found {len(texts)} among {join_names(names)}"
            )
        name = texts[0]
        if names.count(name) > 1:
            raise BiasgridError(f"{path}: has two columns {name!r:.60}")
        group_rows = sum(group.num_rows for group in groups)
        if group_rows != rows:
            raise BiasgridError(f"{folder}: {rows} rows in {npy_name}, {group_rows} in {path.name}")
        if groups:
            _check_pages(path, size, groups, name)
        with parser_errors(path, DAMAGED):
            # Read the column as a dictionary, so that a word of many rows is in memory only once.
            column = pq.ParquetFile(file, metadata=table.metadata, read_dictionary=[name]).read([name])[name]
        if column.null_count:
            raise BiasgridError(f"{path}: column {name!r:.60} has {column.null_count} missing words")
        words: list[str] = []
        with parser_errors(path, DAMAGED):
            for chunk in column.chunks:
                if not pa.types.is_dictionary(chunk.type):
                    words += chunk.to_pylist()
                    continue
                values = chunk.dictionary.to_pylist()
                words += [values[place] for place in chunk.indices.to_pylist()]
        if len(words) != rows:
            raise BiasgridError(f"{folder}: {rows} rows in {npy_name}, {len(words)} in {path.name}")
    return words


def _check_pages(path: Path, size: int, groups: list, name: str) -> None:
    limit, total = expansion_limit(size), 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for group in groups:
            with parser_errors(path, DAMAGED):
                columns = [group.column(i) for i in range(group.num_columns)]
                starts = [
                    (
                        min(filter(None, (c.data_page_offset, c.dictionary_page_offset))),
                        c.total_compressed_size,
                    )
                    for c in columns
                    if c.path_in_schema == name
                ]
            for place, compressed_size in starts:
                end = place + compressed_size
                if not 0 < place < end <= size:
                    raise BiasgridError(f"{path}: {DAMAGED}: a column lies outside of it")
                while place < end:
                    with parser_errors(path, f"{DAMAGED}: a page's header"):
                        header, place = _struct(content, place, end)
                        content_size, stored_size = header[2], header[3]
                        # The fields of the page's own header depend on its type: data, dictionary, data of version 2.
                        facts, key = {0: (5, 2), 2: (7, 2), 3: (8, 4)}[header[1]]
                        encoding = header[facts][key]
                    if min(content_size, stored_size) < 0 or place + stored_size > end:
                        raise BiasgridError(f"{path}: {DAMAGED}: a page lies outside of its column")
                    if encoding not in ENCODINGS:
                        raise BiasgridError(
                            f"{path}: a column of text in Parquet's encoding {encoding} is not read"
                        )
                    place += stored_size
                    total += content_size
                    if total > limit:
                        raise too_large(path, limit)


def _struct(content: mmap.mmap, place: int, end: int) -> tuple[dict[int, Any], int]:
    """Parse a struct of Thrift's compact protocol; return it as {field: number or struct}, and its end.

    Raise ValueError if it goes beyond `end`, or contains lists or maps, which do not occur in a page's
    header.
    """
    fields: dict[int, Any] = {}
    field = 0
    while True:
        if place >= end:
            raise ValueError("is cut off")
        head, place = content[place], place + 1
        kind = head & 15
        if not head:
            return fields, place
        if head >> 4:
            field += head >> 4
        else:
            number, place = _varint(content, place, end)
            field = (number >> 1) ^ -(number & 1)
        if kind in (1, 2):  # true, false
            fields[field] = kind == 1
        elif kind == 3:
            place += 1
        elif kind in (4, 5, 6):
            number, place = _varint(content, place, end)
            fields[field] = (number >> 1) ^ -(number & 1)
        elif kind == 7:
            place += 8
        elif kind == 8:
            length, place = _varint(content, place, end)
            place += length
        elif kind == 12:
            fields[field], place = _struct(content, place, end)
        else:
            raise ValueError(f"has a field of type {kind}")


def _varint(content: mmap.mmap, place: int, end: int) -> tuple[int, int]:
    number = shift = 0
    while place < min(end, len(content)) and shift < 70:
        byte, place = content[place], place + 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, place
    raise ValueError("is cut off")


def detect(names: list[str]) -> bool:
    """Return whether a folder has one file of each type."""
    return [sum(name.endswith(suffix) for name in names) for suffix in (".npy", ".parquet")] == [1, 1]


READERS = (
    Reader(
        name="npy-parquet",
        meaning="a folder with vectors in one .npy, and words in one .parquet",
        detect=detect,
        read=read,
        folder=True,
        guesses=True,
    ),
)
