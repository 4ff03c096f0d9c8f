"""Small studies with pages."""

import copy

import in_process
from conftest import GRID_WORDS, grid_config, write_text_model

from biasgrid.study import Study

# words that would be markup, were they not escaped
HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>']


def small_config(folder) -> dict:
    """Two criteria, four metrics, three models of which one lacks words; a bootstrap and tests."""
    config = copy.deepcopy(grid_config())
    write_text_model(folder / "one.txt", GRID_WORDS, seed=1)
    write_text_model(folder / "two.txt", GRID_WORDS, seed=2)
    # without f: no value where these are asked
    write_text_model(folder / "three.txt", [word for word in GRID_WORDS if word[0] != "f"], seed=3)
    words = folder / "data" / "word_sets"
    words.mkdir(parents=True)
    (words / "toy.json").write_text(
        '{"title": "toy", "paper": "A paper <b>of words</b>", "licence": "CC0", "sets": '
        '{"e": ["e0", "e1", "e2", "e3"], "f": ["f0", "f1", "f2", "f3"]}}'
    )
    (folder / "published.csv").write_text(
        "source,table,criterion,query,metric,model,quantity,published,digits,runs,run_sd,test,note\n"
        "A <b>paper</b>,table 1,First,q1,weat,one,value,9.5,1,,,,\n"
    )
    models = {
        key: {"label": f"Model <{key}>", "source": {"type": "file", "path": str(folder / f"{key}.txt")}}
        for key in ("one", "two", "three")
    }
    config["criteria"]["First"]["queries"]["q1"]["targets"] = {
        "A<i>": ["a1", *HOSTILE, "a2", "a3", "a4", "a5", "a6", "a7", "a0"],
        "B": ["b1", "b2", "b3", "b4"],
    }
    return config | {
        "study": "page",
        "published": [str(folder / "published.csv")],
        "models": models,
        "results": str(folder / "results"),
        "embeddings": str(folder / "embeddings"),
        "word_sets": str(words),
        "words": {"lost_vocabulary_threshold": 0.3},
        "inference": {
            "permutation": {"draws": 99},
            "random_groups": {"draws": 19},
            "bootstrap": {"draws": 40},
            "sensitivity": {"halves": 4},
        },
        "figures": [],
    }


def made(config: dict) -> Study:
    return in_process.make(Study.of(config))


def page_study(folder) -> Study:
    return made(small_config(folder))


def plain_study(folder) -> Study:
    """Without inference, ranked criteria, published numbers: one model, one metric, one query."""
    config = small_config(folder)
    config["models"] = {"one": config["models"]["one"]}
    config["metrics"] = {"weat": {}}
    query = config["criteria"]["First"]["queries"]["q2"]
    config["criteria"] = {"First": {"ranked": False, "queries": {"q2": query}}}
    return made(config | {"study": "plain", "inference": {}, "published": []})
