"""A text file into a store: biasgrid against gensim's load_word2vec_format, on the same file, in one run.

    python benchmarks/convert.py [--shape 400000x300 ...]

The file is seeded normal random numbers, printed with up to five decimals as GloVe and fastText print theirs, below
word2vec's header; it takes 1 GB for the default shape and is deleted at the end. Each side is a process of its own,
so that the peak memory is its own; imports are not timed. biasgrid's time includes writing and hashing the store,
gensim's ends with the vectors in memory. "same" says whether both read the same words and bits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def write_text(path: Path, rows: int, dimensions: int) -> None:
    import pyarrow as pa
    from pyarrow import csv

    generator = np.random.default_rng(0)
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with path.open("wb") as file:
        file.write(f"{rows} {dimensions}\n".encode())
        for start in range(0, rows, 10_000):
            words = [f"word{i}" for i in range(start, min(start + 10_000, rows))]
            values = np.round(0.4 * generator.normal(size=(dimensions, len(words))), 5)
            names = [str(i) for i in range(dimensions + 1)]
            csv.write_csv(pa.table([pa.array(words), *map(pa.array, values)], names=names), file, options)


def biasgrid_side(path: Path) -> dict:
    from biasgrid.models import convert

    start = time.perf_counter()
    store = convert(path, path.with_name("store"), name="random")
    return measured(start) | {"read": digest(store.words(), store.array)}


def gensim_side(path: Path) -> dict:
    from gensim.models import KeyedVectors

    start = time.perf_counter()
    vectors = KeyedVectors.load_word2vec_format(str(path))
    return measured(start) | {"read": digest(vectors.index_to_key, vectors.vectors)}


def measured(start: float) -> dict:
    # kilobytes on Linux, bytes on macOS
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return {
        "seconds": time.perf_counter() - start,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
    }


def digest(words: list[str], vectors: np.ndarray) -> str:
    digest = hashlib.sha256("\n".join(words).encode())
    digest.update(vectors.data)
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", action="append", help="rows x dimensions, such as 400000x300")
    parser.add_argument("--side", choices=("biasgrid", "gensim"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        side = biasgrid_side if arguments.side == "biasgrid" else gensim_side
        return print(json.dumps(side(arguments.file)))

    titles = ("shape", "file MB", "gensim s", "biasgrid s", "ratio", "gensim MB", "biasgrid MB", "same")
    print(" ".join(f"{title:>11}" for title in titles))
    for shape in arguments.shape or ["400000x300"]:
        rows, dimensions = map(int, shape.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vectors.txt"
            write_text(path, rows, dimensions)
            ours, theirs = (
                json.loads(
                    subprocess.run(
                        [sys.executable, __file__, "--side", side, "--file", path],
                        check=True,
                        stdout=subprocess.PIPE,
                    ).stdout
                )
                for side in ("biasgrid", "gensim")
            )
            cells = (
                shape,
                f"{path.stat().st_size / 1e6:.0f}",
                f"{theirs['seconds']:.2f}",
                f"{ours['seconds']:.2f}",
                f"{theirs['seconds'] / ours['seconds']:.1f}x",
                f"{theirs['peak_mb']:.0f}",
                f"{ours['peak_mb']:.0f}",
                "yes" if ours["read"] == theirs["read"] else "NO",
            )
            print(" ".join(f"{cell:>11}" for cell in cells), flush=True)
    return None


if __name__ == "__main__":
    main()
