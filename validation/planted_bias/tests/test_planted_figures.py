"""Figures of a benchmark's models: all marks are there, models that are not judged are hollow, no text is cut off."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba

from biasgrid.figures.frame import caption
from validation.planted_bias import claim_plots as planted
from validation.planted_bias import truth_plots as factory
from validation.planted_bias.claims import CLAIMS

LABELS = {"bert": "BERT", "ppmi": "PPMI"}
KINDS = [("bert", "contextual"), ("bert", "input"), ("ppmi", "word")]
MEANS, SIGMAS = np.arange(0.25, 0.76, 0.05).round(2), np.arange(0.1, 0.36, 0.05).round(2)


def inside(figure):
    """Whether all that is drawn lies in the figure."""
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


def marks(axes):
    """Places of filled and of hollow marks, each (n, 2)."""
    places = {False: [], True: []}
    for part in axes.collections:
        if isinstance(part, PathCollection) and len(part.get_offsets()):
            hollow = not len(part.get_facecolors())
            places[hollow].append(part.get_offsets())
    return [
        np.concatenate(places[hollow]) if places[hollow] else np.empty((0, 2)) for hollow in (False, True)
    ]


def models(kinds=KINDS, seed=0, **columns):
    """A row per model of a small grid and kind of vectors; every third of BERT is not judged."""
    rng = np.random.default_rng(seed)
    rows = [
        (trainer, mu, sigma, i, kind, "no" if trainer == "bert" and i == 3 else "yes")
        for trainer, kind in kinds
        for mu in (0.3, 0.7)
        for sigma in (0.1, 0.2)
        for i in (1, 2, 3)
    ]
    table = pd.DataFrame(rows, columns=["trainer", "mu", "sigma", "replicate", "vectors", "judged"])
    return table.assign(
        **{name: low + (high - low) * rng.random(len(table)) for name, (low, high) in columns.items()}
    )


def test_directions():
    table = models(angle=(1, 30), same=(0.3, 0.9), direct_bias=(0, 0.3))
    drawn = planted.directions(table, LABELS)
    assert inside(drawn)
    assert len(drawn.axes) == 3
    for axes, (trainer, kind) in zip(drawn.axes, KINDS, strict=True):
        mine = table[(table["trainer"] == trainer) & (table["vectors"] == kind)]
        filled, hollow = marks(axes)
        no = mine["judged"] == "no"
        lost = mine["same"] - mine["direct_bias"]
        assert sorted(map(tuple, hollow)) == sorted(zip(mine["angle"][no], lost[no], strict=True))
        assert sorted(map(tuple, filled)) == sorted(zip(mine["angle"][~no], lost[~no], strict=True))
        worse = ((lost > 0.4) & (mine["same"] >= 0.6) & ~no).sum()
        assert f"worse in {worse} of {(~no).sum()} models" in " ".join(t.get_text() for t in axes.texts)
    assert inside(planted.directions(table.drop(columns="direct_bias"), LABELS))


def test_an_example():
    sizes = {f"example_{i}": (0, 2) for i in range(1, 11)}
    table = models(**sizes, example_same=(0, 0.3), example_bias=(0, 0.3))
    ways = table[list(sizes)]
    table = table.assign(example_largest=ways.max(axis=1), example_smallest=ways.min(axis=1))
    drawn = planted.example(table, LABELS)
    assert inside(drawn)
    filled, hollow = marks(drawn.axes[0])
    # ten of each, and two of them once more where they are judged
    assert (len(filled), len(hollow)) == (8 * 12, 4 * 10)
    mine = table[
        (table["vectors"] == "contextual") & (table["judged"] == "yes") & (table["example_bias"] > 0.1)
    ]
    near = (mine["example_smallest"] < 0.1).sum()
    head = f"smallest below 0.1: {100 * near / len(mine):.0f} % of {len(mine)} models"
    assert head in [text.get_text().split("\n")[0] for text in drawn.axes[0].texts]
    assert not planted.example(table.drop(columns=list(sizes)), LABELS).axes


@pytest.mark.parametrize("means", [MEANS, MEANS[::5]])
def test_the_gate(means):
    rows = [("bert", mu, sigma, i) for mu in means for sigma in SIGMAS for i in range(1, 6)]
    table = pd.DataFrame(rows, columns=["trainer", "mu", "sigma", "replicate"])
    table["gate"] = np.random.default_rng(1).random(len(table))
    table["judged"] = np.where(table["gate"] > 0.7, "yes", "no")
    drawn = planted.gate(table, LABELS)
    assert inside(drawn)
    (axes,) = drawn.axes
    filled, hollow = marks(axes)
    assert filled[:, 1].min() > 0.7 >= hollow[:, 1].max()
    assert len(filled) + len(hollow) == len(table)
    # marks of one standard deviation are nearer to its tick than to another's
    of = np.array([table["gate"].tolist().index(y) for y in filled[:, 1]])
    assert (filled[:, 0].round() == [list(SIGMAS).index(s) for s in table["sigma"].iloc[of]]).all()


def claims(**columns):
    """Two claims and a verdict of each, per kind of vectors."""
    base = dict.fromkeys(CLAIMS.names, "") | dict.fromkeys(
        ("value", "low", "high", "threshold", "reliability", "retest", "accuracy"), 0.5
    )
    rows = [
        base | {"claim": claim, "experiment": experiment, "text": text, "trainer": trainer, "vectors": kind,
                "verdict": verdict, "side": ">", "value": value}
        for (trainer, kind), verdict in zip(
            [*KINDS, ("bert", "behaviour")], ["holds", "does not hold", "cannot be said", "holds"], strict=True
        )
        for claim, experiment, text, value in [
            ("a", "E3", "SAME's words: more R² than Direct Bias's, unsigned as in the paper", 0.123),
            ("b", "E4", "Directions are further apart where SAME sees more", 17.55),
            ("c", "E6", "A number that nothing has", np.nan),
        ]
    ]  # fmt: skip
    return pd.DataFrame(rows)[CLAIMS.names].assign(**columns)


def test_claims_have_a_mark_for_their_verdict():
    drawn = planted.claims(claims(), LABELS)
    assert inside(drawn)
    (axes,) = drawn.axes
    faces = [to_rgba(line.get_markerfacecolor()) for line in axes.lines]
    for verdict, look in planted.VERDICTS.items():
        face = to_rgba(look.get("markerfacecolor", look.get("color")))
        assert faces.count(face) == 3 * (2 if verdict == "holds" else 1)
    texts = [text.get_text() for text in axes.texts]
    assert [texts.count(number) for number in ("0.123", "17.6", "–")] == [4, 4, 4]
    # what a model does stands between its kinds of vectors
    across = sorted({round(line.get_xdata()[0], 6) for line in axes.lines})
    assert across[1] == pytest.approx((across[0] + across[2]) / 2)
    assert not planted.claims(claims()[:0], LABELS).axes


def test_downstream_errors():
    table = claims(claim="errors_same", low=0.3, high=0.7, value=0.5, reliability=0.91, accuracy=0.56)
    table = table.drop_duplicates(["trainer", "vectors"])
    table.loc[table["vectors"] == "behaviour", "claim"] = "errors_unmasking"
    drawn = planted.downstream(table[table["trainer"] == "bert"], LABELS)
    assert inside(drawn)
    assert len(drawn.axes) == 2
    for axes in drawn.axes:
        (drawn_marks,) = [line for line in axes.lines if line.get_marker() == "o"]
        assert [*drawn_marks.get_xdata()] == [0.5, 0.5]
    said = "mean accuracy .56 (chance: .50), Cronbach's alpha of the errors .91"
    assert said in caption(drawn)
    assert inside(planted.downstream(table.assign(low=np.nan, high=np.nan), LABELS))


@pytest.mark.parametrize("against", ["", "unmasking", "errors"])
def test_words_of_models_that_are_not_judged_are_hollow_and_in_no_mean(against):
    table = models(KINDS[:2], same=(-1, 1), unmasking=(-1, 1))
    table = pd.concat([table.assign(truth=truth) for truth in ("signed", "absolute")])
    drawn = factory.word_level(table, LABELS | {"same": "SAME"}, against)
    assert inside(drawn)
    for axes, (_, kind) in zip(drawn.axes, KINDS, strict=False):
        filled, hollow = marks(axes)
        mine = table[table["vectors"] == kind]
        assert len(hollow) == 2 * (mine["judged"] == "no").sum()
        assert len(filled) == 2 * (mine["judged"] == "yes").sum()
        means = (
            mine[mine["judged"] == "yes"].groupby("truth")[["same", "unmasking"]].mean().to_numpy().ravel()
        )
        lines = [part.get_segments()[0][0][0] for part in axes.collections if hasattr(part, "get_segments")]
        assert sorted(lines) == pytest.approx(sorted(means))


@pytest.mark.parametrize("against", ["", "unmasking"])
def test_sets_of_models_that_are_not_judged_are_hollow_and_in_no_correlation(against):
    truths = {f"true_{name}": (0, 0.5) for name in factory.BLOCKS}
    table = models(KINDS[:2], **truths, same=(0, 1))
    drawn = factory.against_truth(table, LABELS | {"same": "SAME"}, "sd", ["same"], against)
    assert inside(drawn)
    # the last one has the scale of colours
    for axes, (_, kind) in zip(drawn.axes[:-1], KINDS, strict=False):
        judged = table[(table["vectors"] == kind) & (table["judged"] == "yes")]
        assert [len(part) for part in marks(axes)] == [8, 4]
        r = np.corrcoef(judged["true_sd"], judged["same"])[0, 1]
        assert f"r {r:.2f}".replace("0.", ".").replace("-", "−") in axes.texts[0].get_text().split("\n")
