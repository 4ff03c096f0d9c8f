"""What metrics say of themselves, with the names of a query's sets."""

import re

import numpy as np
import pytest
from fake_models import AnyScores, model_of

from biasgrid import Query, load, metrics


@pytest.mark.filterwarnings("ignore:.*a word in two sets")
@pytest.mark.parametrize("name", metrics.REGISTRY)
def test_every_metric_says_what_it_asks_of_whichever_sets(name):
    """Without a placeholder left, with the sets' names; and its details are there, for every orientation."""
    metric = metrics.REGISTRY[name]
    assert metric.asks, (
        f"{name}: say in `Metric.asks` what it asks, a question with the sets, such as {{T}}, {{A1}}"
    )
    words = [f"w{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    if metric.needs == "corpus":
        model = load([" ".join(rng.choice(words, 10)) for _ in range(200)], kind="corpus")
    elif metric.needs == "language_model":
        # sentences of an item share a word
        words = [f"the {word}" for word in words]
        model = model_of(AnyScores())
    elif metric.needs == "contextual_vectors":
        model = load((words, rng.normal(size=(40, 3, 8))), kind="contextual_vectors")
    else:
        model = load(dict(zip(words, rng.normal(size=(40, 8)).tolist(), strict=True)))
    for parameters in ({}, {"orientation": "wefe_benchmark"} if "orientation" in metric.parameters else {}):
        if name == "direct_bias" and parameters:
            parameters["direction"] = "mean"
        under = metric.under(parameters)
        targets, attributes = ({"n": 2, "k": 2}.get(n, n) for n in under.template)
        query = Query(
            {f"T-{i}": words[5 * i : 5 * i + 5] for i in range(targets)},
            {f"A-{i}": words[10 + 9 * i : 19 + 9 * i] for i in range(attributes)},
        )
        result = metric(query, model, **parameters)
        sides = query.target_sets_names, query.attribute_sets_names
        texts = [under.asks, under.above, under.below, *under.details.values()]
        said = [under.sentence(text, *sides) for text in texts]
        assert said[0].endswith("?"), f"{name}: `Metric.asks` is a question"
        assert not re.search(r"[{}]", " ".join(said))
        named = set(re.findall(r"[TA]-\d", said[0]))
        assert named == {n for side in sides for n in side}, (
            f"{name}: `Metric.asks` names each set of a query"
        )
        # a value on either side of the neutral one means something, where there is one
        low, high = under.range
        says = f"{name}: `above` and `below` of Metric say what a value there means, where the range has such values"
        assert (bool(under.below), bool(under.above)) == (low < under.neutral, high > under.neutral), says
        says = f"{name}: say in `Metric.details` what a number of `Score.detail` is"
        assert bool(set(under.details) & set(result.detail)) == bool(result.detail), says


def test_rnd_by_cosines_turns_what_its_sign_means():
    """Of a word that is the first group's only word, RND is negative by distances and positive by cosines."""
    model = load({"he": [1.0, 0.0], "she": [0.0, 1.0], "boss": [1.0, 0.1]})
    query = Query({"men": ["he"], "women": ["she"]}, {"work": ["boss"]})
    for distance in ("norm", "cos"):
        value = metrics.rnd(query, model, distance=distance).value
        metric = metrics.REGISTRY["rnd"].under({"distance": distance})
        means = metric.above if value > 0 else metric.below
        assert metric.sentence(means, ["men", "women"], ["work"]) == "the words of work are nearer to men"


@pytest.mark.parametrize(
    "name",
    [name for name, metric in metrics.REGISTRY.items() if not metric.of_model and metric.needs == "vectors"],
)
def test_a_metric_says_whether_its_values_depend_on_the_length_of_vectors(name):
    metric, rng = metrics.REGISTRY[name], np.random.default_rng(0)
    sides = [
        [rng.normal(size=(6, 8)) for _ in range(n if isinstance(n, int) else 2)] for n in metric.template
    ]
    seed = {"seed": 1} if metric.seeded else {}
    value, longer = (
        metric.function(*[[f * s for s in side] for side in sides], **seed).value for f in (1, 10)
    )
    grows = abs(longer) > 2 * abs(value)
    assert grows == metric.scaled, (
        f"{name}: its values grow with vectors' length: {grows}; say so in `Metric.scaled`"
    )
    if not metric.scaled:
        assert longer == pytest.approx(value)


def test_the_sign_names_two_sets_only_where_there_are_two():
    """SAME's skew of one group against the rest has as many groups as there are."""
    metric = metrics.REGISTRY["same_skew"].under({"orientation": "paper", "contrast": "rest"})
    assert metric.poles(["A", "B", "C"], ["W"]) is None
    assert metric.poles(["A", "B"], ["W"]) is not None
