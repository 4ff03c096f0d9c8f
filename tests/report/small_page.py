"""A small study, really measured, and its page: several criteria, a model with lost words, twins, debias methods,
published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import yaml
from conftest import write_text_model
from in_process import make, make_cells, make_inputs, make_tables

from biasgrid.report.report_step import report_step
from biasgrid.study import steps
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison


def words(letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(5)]


def query(sets: str) -> dict:
    """A query of two target sets and two attribute sets."""
    a, b, c, d = ({letter.upper(): words(letter)} for letter in sets)
    return {"targets": a | b, "attributes": c | d}


PAIRS = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]
HARD = {"method": "hard", "words": {"definitional_pairs": PAIRS}}
CONFIG = {
    "study": "small",
    "models": {
        # "twin" ties with "two", whose vectors it has
        name: {"label": f"Model {name}", "source": {"type": "file", "path": f"{name}.txt"}}
        for name in ("two", "one", "three", "twin")
    },
    "criteria": {
        "First": {"queries": {name: query(name) for name in ("abcd", "abef", "abce", "abcf", "abde")}},
        # of the words of G, "three" has too few
        "Second, of <b>more & words": {
            "queries": {name: query(name) for name in ("cdab", "cdgh", "cdeg", "cdfh")}
        },
        "Third": {
            "queries": {"efab": query("efab"), "efgh": query("efgh")},
            "metrics": {"weat": {}, "rnd": {}},
        },
    },
    "metrics": {"weat": {}, "weat_es": {}, "rnd": {}, "mac": {}, "ect": {}},
    "debias": {
        "First": {
            "hard": HARD | {"criteria": ["First", "Second, of <b>more & words"], "models": ["one", "two"]},
            "linear": {
                "method": "linear_projection",
                "words": {"definitional_pairs": PAIRS},
                "models": ["three"],
            },
        }
    },
    "inference": {
        "permutation": {"draws": 49, "exact": 10},
        "bootstrap": {"draws": 20},
    },
    "published": ["published.csv"],
    "figures": ["rankings"],
}


def measured(folder: Path, lean: Mapping[str, float] | None = None, draws: int = 20) -> Study:
    """The study with its tables and its page, in a folder that is the working directory.

    lean   model -> how far words of A, C, E, G lie from those of B, D, F, H in it, beside chance
    draws  of the bootstrap
    """
    all_words = [word for letter in "abcdefgh" for word in words(letter)]
    for seed, name in enumerate(("one", "two", "three")):
        there = [word for word in all_words if name != "three" or word[0] != "g"]
        file = write_text_model(folder / f"{name}.txt", there, 8, seed)
        if lean:
            lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
            for line in lines:
                if line[0] in there:
                    line[1] = str(float(line[1]) + (lean[name] if line[0][0] in "aceg" else -lean[name]))
            file.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "twin.txt").write_bytes((folder / "two.txt").read_bytes())
    row = {"source": "A paper", "table": "1", "criterion": "First", "metric": "mac", "quantity": "value"}
    published = [
        row | {"query": "abcd", "model": "one", "published": "1", "digits": "0"},
        row | {"query": "abcd", "model": "two", "published": "1", "digits": "0"},
        row | {"query": "abcd", "model": "one", "published": "9", "digits": "0", "note": "made up"},
    ]
    pd.DataFrame(published, columns=comparison.PUBLISHED).to_csv(folder / "published.csv", index=False)
    inference = CONFIG["inference"] | {"bootstrap": {"draws": draws}}
    (folder / "small.yaml").write_text(yaml.safe_dump(CONFIG | {"inference": inference}, sort_keys=False))
    study = Study.read("small.yaml")
    make_inputs(study)
    for model, key in study.grid.fits:
        steps.fit_step(study, model, key).run()
    make_cells(study)
    make_tables(study)
    report_step(study).run()
    return study


def plain(folder: Path) -> Study:
    """Without inference, ranked criteria, published numbers: one model, one metric, one query."""
    model = write_text_model(folder / "one.txt", [word for letter in "abcd" for word in words(letter)])
    return make(
        Study.of(
            {
                "study": "plain",
                "models": {
                    "one": {
                        "label": "Model one",
                        "source": {"type": "file", "path": str(model)},
                        "limit": 20,
                    }
                },
                "criteria": {"First": {"ranked": False, "queries": {"abcd": query("abcd")}}},
                "metrics": {"weat": {}},
                "figures": [],
                "results": str(folder / "results"),
                "embeddings": str(folder / "embeddings"),
            }
        )
    )
