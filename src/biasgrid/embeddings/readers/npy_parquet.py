"""A folder of one .npy (a row a word) and one .parquet (one column of words, in the same order)."""

from __future__ import annotations

from pathlib import Path

from ...errors import BiasgridError
from ..store import StoreWriter
from .files import blocks, load_array


def read(folder: Path, writer: StoreWriter) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = {}
    for extension in ("npy", "parquet"):
        found = sorted(folder.glob(f"*.{extension}"))
        if len(found) != 1:
            raise BiasgridError(f"{folder}: expected one .{extension} file, found {len(found)}")
        paths[extension] = found[0]
    vectors = load_array(paths["npy"])
    try:
        table = pq.read_table(paths["parquet"])
    except (pa.ArrowException, OSError) as error:
        raise BiasgridError(f"{paths['parquet']}: is not a whole Parquet file: {error}") from None
    texts = [f.name for f in table.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
    if len(texts) != 1:
        raise BiasgridError(
            f"{paths['parquet']}: expected one column of text, found {len(texts)} among {table.column_names}"
        )
    column = table[texts[0]]
    if column.null_count:
        raise BiasgridError(f"{paths['parquet']}: column {texts[0]!r} has {column.null_count} missing words")
    if len(column) != len(vectors):
        raise BiasgridError(
            f"{folder}: {len(vectors)} rows in {paths['npy'].name}, {len(column)} in {paths['parquet'].name}"
        )
    for part in blocks(vectors):
        writer.add(column[part].to_pylist(), vectors[part])
