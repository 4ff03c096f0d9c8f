"""Debias methods: biasgrid against WEFE 1.0.1 on the same vectors and words, in one run.

    python benchmarks/debias.py [hard hsr double_hard ran cell materialize] [--rows 400000] [--runs 3]

hard, hsr, double_hard  fitting, and debiasing all float32 vectors of a model of 400,000 x 300 in memory, by
                        `transform.apply`. The model is seeded random numbers about a mean, with a spectrum as word
                        vectors have it; loading is not timed. For hard also the floor: normalise, project, normalise,
                        in float32 with NumPy
ran                     100 words on the 13,013 x 300 vectors that WEFE comes with; seconds a word. WEFE uses this
                        environment's torch; without one, only biasgrid's variant "paper" is timed
cell                    `biasgrid measure --debias` on 3,000,000 x 300 (3.6 GB): what a process needs for one cell
materialize             the same model under hard debias, written as a store and as word2vec binary

Each side is a process of its own, so that its peak memory is its own; that holds the vectors too, where they are in
memory. biasgrid's best of several runs counts, with BLAS on one thread, as in a cell of the grid; WEFE's single
one, with all threads. "difference" is the largest of any number between
the unit vectors of 1000 words of both sides.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve().parent
DIMENSIONS, LARGE = 300, 3_000_000
BLOCK = 10_000
CASES = ("hard", "hsr", "double_hard", "ran", "cell", "materialize")
PROBE = 1000  # words whose vectors are compared
RAN_WORDS = 100


def word_sets() -> dict:
    return json.loads((HERE.parent / "data/word_sets/debiaswe.json").read_text(encoding="utf-8"))["sets"]


def make_words(rows: int) -> list[str]:
    """The words that the methods are given, then others; the last PROBE are compared."""
    sets = word_sets()
    pairs = [word for pair in sets["definitional_pairs"] for word in pair]
    given = list(dict.fromkeys([*pairs, *sets["gender_specific"]]))
    return given + [f"word{i}" for i in range(rows - len(given))]


def blocks_of_vectors(rows: int):
    """The same numbers whenever it is called; after 100 blocks they come again."""
    spectrum = (np.arange(1, DIMENSIONS + 1) ** -0.4).astype(np.float32)
    mean = np.random.default_rng(1).normal(size=DIMENSIONS, scale=0.3).astype(np.float32)
    for start in range(0, rows, BLOCK):
        generator = np.random.default_rng([2, start // BLOCK % 100])
        noise = generator.standard_normal((min(BLOCK, rows - start), DIMENSIONS), dtype=np.float32)
        yield noise * spectrum + mean


def make_store(folder: Path, rows: int) -> None:
    from biasgrid.models.store_writer import StoreWriter

    words = make_words(rows)
    with StoreWriter(folder, "random numbers") as writer:
        for start, block in zip(range(0, rows, BLOCK), blocks_of_vectors(rows), strict=True):
            writer.add(words[start : start + BLOCK], block)
        writer.finish({"name": "random", "vocab_prefix": ""})


def measured(function, runs: int = 1) -> dict:
    """Seconds of the fastest run, and the process's peak memory."""
    times = []
    for _ in range(runs):
        start, cpu = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    return {"seconds": min(t for t, _ in times), "cpu": min(c for _, c in times), "peak_mb": peak_mb()}


def peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what the process held that started this one
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # macOS: bytes


def options(case: str) -> dict:
    """What both sides are given, under biasgrid's names."""
    sets = word_sets()
    pairs = sets["definitional_pairs"]
    there = set(make_words(0))
    equalize = [pair for pair in sets["equalize_pairs"] if set(pair) <= there]
    return {
        "hard": {"definitional_pairs": pairs, "equalize_pairs": equalize, "ignore": sets["gender_specific"]},
        "hsr": {"definitional_words": sets["gender_specific"]},
        "double_hard": {
            "definitional_pairs": pairs,
            "bias_representation": ["he", "she"],
            "ignore": sets["gender_specific"],
        },
    }[case]


def save_probe(vectors: np.ndarray, path: Path) -> None:
    probe = vectors[-PROBE:].astype(float)
    np.save(path, probe / np.linalg.norm(probe, axis=1, keepdims=True))


# sides, each in its own process


def biasgrid_side(case: str, folder: Path, runs: int, variant: str | None = None) -> dict:
    from biasgrid import EmbeddingStore, debias

    model = EmbeddingStore.open(folder / "store")
    vectors, words = np.array(model.array), model.words()
    debiased = np.empty_like(vectors)
    method, given = debias.method(case), options(case)
    if variant:
        given["variant"] = variant

    def fit_and_apply() -> None:
        transform = method(model, **given)
        for start in range(0, len(vectors), BLOCK):
            block = slice(start, start + BLOCK)
            debiased[block] = transform.apply(vectors[block], words[block])

    result = measured(fit_and_apply)
    save_probe(debiased, folder / f"biasgrid_{case}.npy")
    if runs > 1:
        peak = result["peak_mb"]
        again = measured(fit_and_apply, runs - 1)
        result = {key: min(result[key], again[key]) for key in ("seconds", "cpu")} | {"peak_mb": peak}
    return result


def floor_side(case: str, folder: Path, runs: int) -> dict:
    """Memory traffic and arithmetic of hard debias alone, in one thread and in all."""
    vectors = np.array(np.load(folder / "store" / "vectors.npy", mmap_mode="r"))
    direction = np.random.default_rng(0).normal(size=DIMENSIONS).astype(np.float32)
    direction /= np.linalg.norm(direction)
    threads, rows = os.cpu_count(), 2048

    def work(thread: int, threads: int) -> None:
        scratch = np.empty((rows, DIMENSIONS), dtype=np.float32)
        for start in range(thread * rows, len(vectors), threads * rows):
            block = vectors[start : start + rows]
            part = scratch[: len(block)]
            block *= (1 / np.sqrt(np.vecdot(block, block)))[:, None]
            np.multiply(np.vecdot(block, direction)[:, None], direction, out=part)
            block -= part
            block *= (1 / np.sqrt(np.vecdot(block, block)))[:, None]

    with ThreadPoolExecutor(threads) as pool:
        one = measured(lambda: work(0, 1), runs)
        every = measured(lambda: list(pool.map(work, range(threads), [threads] * threads)), runs)
    return {"seconds": min(one["seconds"], every["seconds"])} | {k: one[k] for k in ("cpu", "peak_mb")}


def wefe_side(case: str, folder: Path, runs: int) -> dict:
    from gensim.models import KeyedVectors
    from wefe.debias.double_hard_debias import DoubleHardDebias
    from wefe.debias.half_sibling_regression import HalfSiblingRegression
    from wefe.debias.hard_debias import HardDebias
    from wefe.word_embedding_model import WordEmbeddingModel

    words = json.loads((folder / "words.json").read_text())
    vectors = KeyedVectors(DIMENSIONS)
    vectors.vectors = np.load(folder / "store" / "vectors.npy")
    vectors.index_to_key = words
    vectors.key_to_index = {word: place for place, word in enumerate(words)}
    model = WordEmbeddingModel(vectors, "model")
    given = options(case)
    ignore = {"ignore": given.pop("ignore")} if "ignore" in given else {}
    method = {"hard": HardDebias, "hsr": HalfSiblingRegression, "double_hard": DoubleHardDebias}[case]()
    with redirect_stdout(io.StringIO()):
        result = measured(lambda: method.fit(model, **given).transform(model, **ignore, copy=False))
    save_probe(model.wv.vectors, folder / f"wefe_{case}.npy")
    return result


def ran_words(vocabulary) -> list[str]:
    """Professions, and what they are near to is what the method is for."""
    professions = [entry[0] for entry in word_sets()["professions"]]
    return [word for word in professions if word in vocabulary][:RAN_WORDS]


def ran_biasgrid_side(case: str, folder: Path, runs: int, variant: str) -> dict:
    from biasgrid import EmbeddingStore, debias

    model = EmbeddingStore.open(folder / "ran")
    given = {"definitional_pairs": word_sets()["definitional_pairs"], "target": ran_words(model)}
    return measured(lambda: debias.method("ran")(model, **given, variant=variant), runs)


def ran_wefe_side(case: str, folder: Path, runs: int, libraries: str) -> dict:
    # what this environment lacks is taken from the other one, which has torch
    sys.path.append(libraries)
    import wefe
    from gensim.models import KeyedVectors
    from wefe.debias.repulsion_attraction_neutralization import RepulsionAttractionNeutralization
    from wefe.word_embedding_model import WordEmbeddingModel

    vectors = KeyedVectors.load(str(Path(wefe.__file__).parent / "datasets/data/test_model.kv"))
    model = WordEmbeddingModel(vectors, "model")
    pairs, target = word_sets()["definitional_pairs"], ran_words(vectors.key_to_index)

    def fit_and_apply() -> None:
        method = RepulsionAttractionNeutralization().fit(model, pairs)
        method.transform(model, target=target, copy=False)

    with redirect_stdout(io.StringIO()):
        return measured(fit_and_apply)


def cell_side(case: str, folder: Path, runs: int) -> dict:
    start = time.perf_counter()
    import biasgrid.cli
    import biasgrid.debias
    import biasgrid.measure.measure
    import biasgrid.metrics
    import biasgrid.models.readers
    import biasgrid.queries.query

    imports = time.perf_counter() - start
    command = ["measure", "--metric", "weat", "--model", folder / "store", "--query", folder / "query.json"]
    command = [str(part) for part in [*command, "--debias", folder / "hard.npz"]]
    with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        result = measured(lambda: biasgrid.cli.main(command))
    return result | {"imports": imports}


def materialize_side(case: str, folder: Path, runs: int, output: str) -> dict:
    from biasgrid.debias.saving import materialize

    from biasgrid import EmbeddingStore
    from biasgrid.debias.transform import Transform

    model, transform = EmbeddingStore.open(folder / "store"), Transform.load(folder / "hard.npz")
    return measured(lambda: materialize(model, transform, folder / output))


# cases


def run_side(function, case: str, folder: Path, runs: int, *rest: str, python: str = sys.executable) -> dict:
    command = [python, __file__, case, "--side", function.__name__, "--folder", folder, "--runs", str(runs)]
    # WEFE draws bars there
    done = subprocess.run([*command, *(f"--rest={item}" for item in rest)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def show(label: str, side: dict, other: dict | None = None, note: str = "") -> None:
    """A line; the ratios say how many times as much `other` takes."""
    times, ratios = (side["seconds"], side["cpu"]), ("", "")
    if other:
        ratios = (f"{other['seconds'] / side['seconds']:.1f}x", f"{other['cpu'] / side['cpu']:.1f}x")
    cells = " ".join(f"{t:9.4f} {ratio:>7}" for t, ratio in zip(times, ratios, strict=True))
    print(f"{label:36} {cells} {side['peak_mb']:8.0f}  {note}", flush=True)


def compared(case: str, folder: Path) -> str:
    ours, theirs = (np.load(folder / f"{side}_{case}.npy") for side in ("biasgrid", "wefe"))
    return f"difference {np.abs(ours - theirs).max():.0e}"


def run_grid_of_methods(cases: list[str], rows: int, runs: int) -> None:
    from wefe_environment import python

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "store", rows)
        (folder / "words.json").write_text(json.dumps(make_words(rows)))
        for case in cases:
            theirs = run_side(wefe_side, case, folder, 1, python=python())
            if case == "double_hard":
                for variant in ("wefe", "paper"):
                    ours = run_side(biasgrid_side, case, folder, runs, variant)
                    show(f"{case}, variant {variant}: biasgrid", ours, theirs)
            else:
                ours = run_side(biasgrid_side, case, folder, runs)
                show(f"{case}: biasgrid", ours, theirs, compared(case, folder))
            show(f"{case}: WEFE", theirs)
            if case == "hard":
                floor = run_side(floor_side, case, folder, runs)
                share = " and ".join(f"{ours[key] / floor[key]:.2f}" for key in ("seconds", "cpu"))
                show("hard: floor", floor, note=f"biasgrid takes {share} (CPU) times as much")


def run_ran(runs: int) -> None:
    from wefe_environment import python

    from biasgrid.models import convert

    interpreter = python()
    where = [interpreter, "-c", "import wefe; print(wefe.__file__)"]
    package = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = convert(
            package / "datasets/data/test_model.kv", folder / "ran", name="test", trust_pickle=True
        )
        words = len(ran_words(store))
        variants, theirs = ("paper",), None
        if torch := find_spec("torch"):
            libraries = str(Path(torch.origin).parents[1])
            variants = ("paper", "wefe")
            theirs = per_word(run_side(ran_wefe_side, "ran", folder, 1, libraries, python=interpreter), words)
        else:
            print("ran: WEFE and the variant wefe are left out: torch is missing (docs/install.md)")
        for variant in variants:
            ours = per_word(run_side(ran_biasgrid_side, "ran", folder, runs, variant), words)
            show(f"ran, a word, variant {variant}: biasgrid", ours, theirs)
        if theirs:
            show("ran, a word: WEFE", theirs, note=f"{words} words")


def per_word(side: dict, words: int) -> dict:
    return side | {"seconds": side["seconds"] / words, "cpu": side["cpu"] / words}


def make_large(case: str, folder: Path, runs: int) -> dict:
    from biasgrid import EmbeddingStore, debias

    make_store(folder / "store", LARGE)
    debias.hard(EmbeddingStore.open(folder / "store"), **options("hard")).save(folder / "hard.npz")
    words = make_words(0)
    query = {"target_sets": [words[:8], words[8:16]], "attribute_sets": [words[100:125], words[200:225]]}
    (folder / "query.json").write_text(json.dumps(query))
    return {}


def run_large(cases: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_side(make_large, "cell", folder, 1)
        if "cell" in cases:
            start = time.perf_counter()
            cell = run_side(cell_side, "cell", folder, 1)
            whole = time.perf_counter() - start
            note = f"imports {cell['imports']:.2f} s, process {whole:.2f} s"
            show("cell under a transform", cell, note=note)
        if "materialize" in cases:
            for output in ("out", "out.bin"):
                side = run_side(materialize_side, "materialize", folder, 1, output)
                show(f"materialize: {'store' if output == 'out' else '.bin'}", side)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rest", action="append", default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cases = arguments.cases or list(CASES)
    if unknown := set(cases) - set(CASES):
        parser.error(f"{', '.join(sorted(unknown))}: allowed are {', '.join(CASES)}")
    if arguments.side:
        side = globals()[arguments.side]
        with threadpool_limits(None if "wefe" in arguments.side else 1):
            return print(json.dumps(side(cases[0], arguments.folder, arguments.runs, *arguments.rest)))

    print(f"{'':36} {'seconds':>9} {'ratio':>7} {'CPU s':>9} {'ratio':>7} {'peak MB':>8}")
    if methods := [case for case in cases if case in ("hard", "hsr", "double_hard")]:
        run_grid_of_methods(methods, arguments.rows, arguments.runs)
    if "ran" in cases:
        run_ran(arguments.runs)
    if large := [case for case in cases if case in ("cell", "materialize")]:
        run_large(large)
    return None


if __name__ == "__main__":
    main()
