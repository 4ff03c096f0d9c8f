"""A study in which models are asked, mapped, and looked through for pairs."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from conftest import GRID_WORDS, grid_config, write_text_model
from in_process import make_all

from biasgrid.study.study import Study

PAIRS = [[f"a{i}", f"b{i}"] for i in range(4)]
FOLDER = TemporaryDirectory(prefix="asked")


@cache
def made() -> Study:
    """The study, made once, in a folder that goes when Python ends."""
    folder = Path(FOLDER.name)
    config = grid_config()
    for seed, (name, model) in enumerate(config["models"].items()):
        model["source"]["path"] = str(write_text_model(folder / f"{name}.txt", GRID_WORDS, seed=seed))
    first = config["criteria"]["First"] | {"ranked": False}
    del first["queries"]["q2"]
    evaluated = {
        "questions": {
            "mine": {"pairs": PAIRS[:2], "words": ["c0", "c1", "d0"], "best": 2},
            "matched": {
                "pairs": PAIRS[:2],
                "words": ["c0", "c1"],
                "methods": ["3cosadd", "difference_matching"],
            },
            "alike": {"pairs": PAIRS[:2], "methods": ["generated"], "threshold": 2, "best": 4},
        },
        "map": {"sets": {side: [f"{side}{i}" for i in range(5)] for side in "cd"}},
        "seed_pairs": {"mine": PAIRS, "fewer": PAIRS[:2]},
    }
    config |= {"criteria": {"First": first}, "metrics": {"weat": {}}, "evaluation": {"First": evaluated}}
    config |= {"results": str(folder / "results"), "embeddings": str(folder / "embeddings")}
    return make_all(Study.of(config | {"figures": ["analogies", "seed-pairs"]}))
