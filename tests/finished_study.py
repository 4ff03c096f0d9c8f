"""One small finished study that tests share, made by Snakemake once per machine.

    python tests/finished_study.py        # writes what tests/golden/finished_study is compared with, anew

Three models of 400 words, of which one has a strong bias, one a weak one, and one none and no word of F; a corpus,
and a language model that is a table of scores. Four queries, with words that models lack, and names that would be
markup; five metrics of vectors, one of text, one of sentences; a debias method; inference; a published number. It
lies in the system's folder of temporary files under the digest of what makes it, and is made again when that changes.
Whoever changes it works on a copy (`copied`, `Project.copy`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
from conftest import ROOT, Project
from threadpoolctl import threadpool_info

from biasgrid.study.study import Study

GOLDEN = ROOT / "tests" / "golden" / "finished_study"
COMPARED = ("*.csv", "cells/**/*.json", "study.json")
KEPT = 12  # studies of other states of the sources, for as many worktrees, and of other kernels
NULL = "one/none/weat/q1"
LETTERS = "abcdef"
WORDS = [f"{letter}{i}" for letter in LETTERS for i in range(8)] + [f"x{i}" for i in range(352)]


def words(letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(8)]


# words that would be markup, were they not escaped; no model has them
HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>']
GROUPS = {"A": words("a"), "B": words("b")}
PAIRS = [[f"a{i}", f"b{i}"] for i in range(4)]
CONFIG = {
    "study": "small",
    "seed": 7,
    "published": ["published.csv"],
    "words": {"preprocessors": [{}, {"lowercase": True}]},
    "models": {
        "one": {"label": "Model <one>", "sorted": True, "source": {"type": "file", "path": "one.txt"}},
        "two": {"label": "Model <two>", "source": {"type": "file", "path": "two.txt"}},
        "three": {"label": "Model <three>", "source": {"type": "file", "path": "three.txt"}},
        "corpus": {"label": "A corpus", "kind": "corpus", "source": {"type": "file", "path": "corpus.txt"}},
        "table": {
            "label": "A table of scores",
            "kind": "language_model",
            "format": "scores",
            "source": {"type": "file", "path": "sentence_scores.csv"},
        },
    },
    "criteria": {
        "First": {
            "queries": {
                "q1": {
                    "targets": {
                        "A<i>": ["a1", *HOSTILE, "a2", "a3", "a4", "a5", "a6", "a7", "a0"],
                        "B": words("b"),
                    },
                    "attributes": {"C": words("c"), "D": words("d")},
                },
                "q2": {
                    "targets": GROUPS | {"A": ["A0", *words("a")[1:]]},
                    "attributes": {"E": "toy.e", "F": "toy.f"},
                },
                # "wrt E" is a sub-query of both
                "q5": {
                    "targets": GROUPS | {"A": ["A0", *words("a")[1:]]},
                    "attributes": {"E": words("e"), "D": words("d")},
                },
            }
        },
        "Second": {
            "queries": {
                "q3": {
                    "targets": {"C": words("c"), "D": words("d")},
                    "attributes": {"E": words("e"), "A": words("a")},
                }
            }
        },
        "Text": {
            "ranked": False,
            "metrics": {"pmi": {"params": {"smoothing": 0.5}}},
            "queries": {"q4": {"targets": GROUPS, "attributes": {"C": words("c")}}},
        },
        "Sentences": {
            "ranked": False,
            "metrics": {"pll_preference": {}},
            "queries": {
                "pairs": {
                    "file": "pairs.csv",
                    "sets": {"Stereotypical": "stereo", "Other": "anti"},
                    "name": "Pairs",
                }
            },
        },
    },
    "metrics": {
        "weat": {},
        "mac": {},
        "rnd": {"inference": {"permutation": {"draws": 99, "exact": 50}}},
        "rnsb": {"params": {"n_iterations": 5, "holdout": True}, "words": {"normalize": True}},
        "cosine": {"metric": "rnd", "params": {"distance": "cos"}, "label": "RND (cosine)"},
    },
    "debias": {
        "First": {
            "hard": {
                "method": "hard",
                "words": {"definitional_pairs": PAIRS},
                "criteria": ["First", "Second"],
                "models": ["one", "two"],
            }
        }
    },
    "inference": {
        "permutation": {"draws": 499, "exact": 100},
        "random_groups": {"draws": 499},
        "frequency_bands": {"draws": 199, "exact": 100},
        "bootstrap": {"draws": 50},
        "sensitivity": {"halves": 4},
        "adjust": "benjamini-hochberg",
    },
    "reliability": {},
    "figures": ["scores", "rankings", "correlations"],
    "null_distributions": [NULL],
}


def write_inputs(folder: Path) -> None:
    """The study's models and files, from seeded generators."""
    lacks = {"one": (), "two": ("d3",), "three": words("f")}
    for seed, (name, lean) in enumerate({"one": 2.0, "two": 0.5, "three": 0.0}.items()):
        present = [word for word in WORDS if word not in lacks[name]]
        vectors = np.random.default_rng(seed).normal(size=(len(present), 16))
        vectors[:, 0] += [lean * {"a": 1, "c": 1, "b": -1, "d": -1}.get(word[0], 0) for word in present]
        rows = (
            f"{word} {' '.join(f'{x:.5f}' for x in row)}\n"
            for word, row in zip(present, vectors, strict=True)
        )
        (folder / f"{name}.txt").write_text(f"{len(present)} 16\n" + "".join(rows), encoding="utf-8")
    toy = {"title": "toy", "paper": "A paper <b>of words</b>", "licence": "CC0"}
    toy |= {"sets": {letter: words(letter) for letter in "ef"}}
    (folder / "data" / "word_sets").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "word_sets" / "toy.json").write_text(json.dumps(toy), encoding="utf-8")
    (folder / "published.csv").write_text(
        "source,table,criterion,query,metric,model,quantity,published,digits,runs,run_sd,test,note\n"
        "A <b>paper</b>,table 1,First,q1,weat,one,value,99.5,1,,,,\n",
        encoding="utf-8",
    )
    draw = random.Random(3)
    lines = (" ".join(draw.choice(LETTERS) + str(draw.randrange(8)) for _ in range(7)) for _ in range(300))
    (folder / "corpus.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = [
        (f"the {a} is c{i}", f"the {b} is c{i}")
        for i, (a, b) in enumerate(zip(*GROUPS.values(), strict=True))
    ]
    (folder / "pairs.csv").write_text(
        "stereo,anti\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8"
    )
    scores = (f"{text},{round(draw.uniform(-12, -8), 3)!r}\n" for pair in pairs for text in pair)
    (folder / "sentence_scores.csv").write_text("text,score\n" + "".join(scores), encoding="utf-8")


def finished() -> Project:
    """The study, to be read only; where `FINISHED_STUDY` names one, that."""
    if made := os.environ.get("FINISHED_STUDY"):
        return Project(Path(made))
    folder = Path(tempfile.gettempdir()) / f"biasgrid-studies-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / _digest()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "made").exists():
            shutil.rmtree(place, ignore_errors=True)
            make(place)
            (place / "made").touch()
        os.utime(place)
        others = sorted(
            (path for path in folder.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime
        )
        for path in others[: -KEPT - 1]:
            shutil.rmtree(path, ignore_errors=True)
    return Project(place)


@contextmanager
def copied(folder: Path) -> Iterator[Study]:
    """A copy to write to, without the workflow that made it; this folder is the working directory meanwhile."""
    left_out = shutil.ignore_patterns("workflow", "profiles", ".snakemake")
    shutil.copytree(finished().folder, folder, ignore=left_out, symlinks=True, dirs_exist_ok=True)
    with contextlib.chdir(folder):
        yield Study.read("config/config.yaml")


def other(folder: Path, **changes: object) -> Study:
    """Another study of the same models, to be made in this folder, which is the working directory."""
    write_inputs(folder)
    return Study.of(CONFIG | {"published": [], "figures": [], "null_distributions": []} | changes)


def make(folder: Path) -> Project:
    """The study, made in this folder by Snakemake."""
    folder.mkdir()
    project = Project(folder)
    write_inputs(folder)
    project.configure(CONFIG)
    project.run()
    return project


@cache
def _digest() -> str:
    """Of all that it is made of."""
    versions = (metadata.version(name) for name in ("numpy", "pandas", "scipy", "scikit-learn", "snakemake"))
    hasher = hashlib.sha256(" ".join([sys.version, *versions, *_kernels()]).encode())
    files = [path for name in ("src", "workflow", "profiles") for path in sorted((ROOT / name).rglob("*"))]
    for path in (*files, ROOT / "Snakefile", ROOT / "tests" / "conftest.py", Path(__file__)):
        if path.is_file() and "__pycache__" not in path.parts and "egg-info" not in path.parent.name:
            hasher.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return hasher.hexdigest()[:16]


def _kernels() -> list[str]:
    """Return what changes the last digits of numbers: kernels of BLAS, NumPy and the C library, and threads."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    kernels = [str(library.get("architecture")) for library in threadpool_info()]
    settings = ("GLIBC_TUNABLES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return [*found, *kernels, *(f"{name}={os.environ.get(name)}" for name in settings)]


def copy_compared(results: Path, folder: Path) -> Path:
    """What golden values are compared with, of the results of a study."""
    for path in (path for pattern in COMPARED for path in results.glob(pattern)):
        (folder / path.relative_to(results)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(results))
    return folder


if __name__ == "__main__":
    start = time.monotonic()
    study = finished()
    print(f"{study.folder}: {time.monotonic() - start:.0f} s")
    shutil.rmtree(GOLDEN, ignore_errors=True)
    copy_compared(study.folder / "results" / "small", GOLDEN)
