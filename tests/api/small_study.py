"""A small study, made by the workflow's steps in this process, with tests, intervals and a model that lacks words."""

from pathlib import Path

import yaml
from conftest import write_text_model

from biasgrid.files import write_text
from biasgrid.plan.steps import (
    aggregates_step,
    cell_step,
    inference_step,
    null_step,
    pool_step,
    rank_samples_step,
    table_step,
)
from biasgrid.study import Study
from biasgrid.tables import REGISTRY
from biasgrid.workflow.stores import make_store

# and enough others that random groups are found among them
WORDS = [f"{letter}{i}" for letter in "abcdefg" for i in range(6)] + [f"x{i}" for i in range(200)]
NULL = "one/none/weat/q1"


def words(letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(6)]


def sets(**letters: str) -> dict[str, list[str]]:
    return {name: words(letter) for name, letter in letters.items()}


CONFIG = {
    "study": "small",
    "seed": 3,
    "embeddings": "stores",
    "models": {
        name: {"label": f"Model {name}", "source": {"type": "file", "path": f"{name}.txt"}}
        for name in ("one", "two", "three")
    },
    "words": {"preprocessors": [{}, {"uppercase": True}], "lost_vocabulary_threshold": 0.4},
    "criteria": {
        "Zeal": {
            "queries": {
                "q1": {"targets": sets(A="a", B="b"), "attributes": sets(C="c", D="d")},
                "q2": {"targets": sets(A="a", B="b"), "attributes": sets(C="c", E="e")},
            }
        },
        # "wrt C" is a sub-query of both of the first ones; G is lost in a model
        "Awe": {
            "queries": {
                "q3": {"targets": sets(C="c", D="d"), "attributes": sets(E="e", G="g")},
                "q4": {"targets": sets(A="a", B="b", C="c"), "attributes": sets(D="d", E="e")},
            }
        },
    },
    "metrics": {
        "weat": {},
        "weat_es": {"params": {"ddof": 1}},
        "rnd": {"inference": {"permutation": {"draws": 99, "exact": 50}}},
        "rnsb": {"params": {"n_iterations": 3, "holdout": True}, "words": {"normalize": True}},
        "cosine": {"metric": "rnd", "params": {"distance": "cos"}, "label": "RND (cosine)"},
        "ect": {},
    },
    "inference": {
        "permutation": {"draws": 199, "exact": 100},
        "random_groups": {"draws": 49},
        "bootstrap": {"draws": 40},
        "sensitivity": {"halves": 4},
        "adjust": "benjamini-hochberg",
    },
    "figures": ["scores"],
    "null_distributions": [NULL],
}


def finished(folder: Path) -> Study:
    """The study, with all its tables, in a folder that is the working directory."""
    for seed, name in enumerate(CONFIG["models"]):
        lacking = {"g0", "g1", "g2", "a3"} if name == "three" else {"b5"}
        write_text_model(folder / f"{name}.txt", [w for w in WORDS if w not in lacking], 8, seed)
    (folder / "small.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    study = Study.read("small.yaml")
    write_text(study.results / "study.json", study.to_json())
    for model in study.models:
        make_store(study, model)
        pool_step(study, model).run()
    for key, query in study.queries.items():
        write_text(study.query_file(key), query.to_json())
    for cell in study.cells.values():
        cell_step(study, cell).run()
    for group in study.inference_groups.values():
        inference_step(study, group).run()
    for name in study.aggregate_criteria:
        aggregates_step(study, study.inference_groups[name]).run()
    null_step(study, study.cells[NULL]).run()
    table_step(study, "scores").run()
    rank_samples_step(study).run()
    table_step(study, "rankings").run()
    for name in REGISTRY:
        if name in study.tables:
            table_step(study, name).run()
    return study
