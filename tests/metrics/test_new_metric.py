"""A new metric is one file: in the package, it is in the grid, the tables, the inference, the property matrix."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

LEAD = '''
import numpy as np

from ..core.geometry import cosines
from .registry import Metric, Score


def lead(targets, attributes):
    """Share of the attribute words that are nearer to the first target set, less that of the others."""
    (words,) = attributes
    first, second = (cosines(words, group).mean(axis=1) for group in targets)
    return Score(float(np.sign((first - second).round(12)).mean()))


METRICS = (
    Metric("lead", "Lead", lead, template=(2, 1), range=(-1.0, 1.0), neutral=0.0, reference="this test"),
)
'''
GROUP = 4
CONFIG = {
    "study": "small",
    "models": {
        "one": {"label": "One", "source": {"type": "file", "path": "one.txt"}},
        "two": {"label": "Two", "source": {"type": "file", "path": "two.txt"}},
    },
    "criteria": {
        "First": {
            "queries": {
                "q1": {
                    "targets": {letter.upper(): [f"{letter}{i}" for i in range(GROUP)] for letter in "ab"},
                    "attributes": {"C": [f"c{i}" for i in range(7)]},
                }
            }
        }
    },
    "metrics": {"lead": {}, "rnd": {}},
    "inference": {"permutation": {}, "bootstrap": {"draws": 50}, "sensitivity": {"halves": 20}},
    "figures": [],
}


@pytest.fixture
def with_lead(project):
    """A copy of the project with one more file, and its study of the new metric, done."""
    project.own_code("metrics/lead.py").write_text(LEAD)
    project.configure(CONFIG)
    project.run()
    return project


def vectors(project, model):
    lines = (project.folder / f"{model}.txt").read_text().splitlines()[1:]
    return {line.split()[0]: np.array(line.split()[1:], dtype="float32").astype(float) for line in lines}


def by_hand(model, first, second, words):
    nearer = 0
    for word in words:
        w = model[word] / np.linalg.norm(model[word])
        sides = [np.mean([w @ model[x] / np.linalg.norm(model[x]) for x in side]) for side in (first, second)]
        nearer += np.sign(sides[0] - sides[1])
    return nearer / len(words)


def test_a_new_metric_is_one_file(with_lead):
    def table(name):
        made = pd.read_csv(with_lead.folder / "results" / "small" / f"{name}.csv")
        return made[made["metric"] == "lead"].set_index("model")

    query = CONFIG["criteria"]["First"]["queries"]["q1"]
    (a, b), (words,) = query["targets"].values(), query["attributes"].values()
    scores, tested, influence = table("scores"), table("tests"), table("influence")
    percentile = table("intervals").query("kind == 'percentile'")
    expected = {}
    for name in ("one", "two"):
        model = vectors(with_lead, name)
        expected[name] = by_hand(model, a, b, words)
        assert scores.loc[name, "value"] == pytest.approx(expected[name])
        assert scores.loc[name, "status"] == "ok"
        # the exact test, of every way to make two sets of the targets' words
        partitions = [
            by_hand(model, first, [word for word in a + b if word not in first], words)
            for first in combinations(a + b, GROUP)
        ]
        as_extreme = min(
            sum(value >= expected[name] - 1e-9 for value in partitions),
            sum(value <= expected[name] + 1e-9 for value in partitions),
        )
        assert tested.loc[name, "partitions"] == len(partitions) == 70
        assert tested.loc[name, "p_value"] == pytest.approx(min(2 * as_extreme / 70, 1))
        assert -1 <= percentile.loc[name, "low"] <= percentile.loc[name, "high"] <= 1
        without = {word: by_hand(model, a, b, [w for w in words if w != word]) for word in words}
        of_words = influence.loc[name].set_index("word")["influence"]
        assert len(of_words) == 2 * GROUP + len(words)
        for word in words:
            assert of_words[word] == pytest.approx(without[word] - expected[name])
        assert table("sensitivity").loc[name, "halves_attributes"] > 0
    ranks = table("rankings").query("criterion == 'First'")["rank"]
    assert ranks.to_dict() == pd.Series(expected).abs().rank().to_dict()
    assert {"lead", "rnd"} == set(
        pd.read_csv(with_lead.folder / "results" / "small" / "correlations.csv")["metric_a"]
    )

    done = with_lead.biasgrid("properties", "--metric", "lead")
    assert done.returncode == 0, done.stderr
    holds = {(row["level"], row["property"]): row["holds"] for row in json.loads(done.stdout)}
    # a sign: right for one word; of several, those that lean one way and those that lean the other cancel out,
    # however much they lean
    assert holds == {
        ("one word", "comparable"): "not refuted",
        ("one word", "trustworthy"): "not refuted",
        ("one word", "defined"): "not refuted",
        ("one word", "length_free"): "not refuted",
        ("words", "comparable"): "not refuted",
        ("words", "trustworthy"): "no",
        ("words", "skew"): "no",
        ("words", "stereotype"): "no",
        ("words", "defined"): "not refuted",
        ("words", "length_free"): "not refuted",
    }
