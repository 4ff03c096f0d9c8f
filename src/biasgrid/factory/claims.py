"""The claims of Schroeder et al. (2021, section 5), and whether the models bear them out.

Each claim is about a quantity of models, such as a mean difference of R², and says on which side of a threshold it
lies. Its 95 % interval is over plans (mu, sigma), whose replicates are a cluster: a t-interval of means, from three
plans on, and a bootstrap of correlations and of differences of R² over models, from 20 plans on (see `estimates`).
Where the interval lies on the claimed side the claim holds, and where it lies on the other it does not; where it
contains the threshold, or there are fewer plans, nothing can be said.

About 60 claims are looked at per trainer and kind of vectors, and no interval is adjusted for that: of 60 claims
without any effect three are expected to have a verdict by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..frames import read_frame, write_frame
from ..schroeder import ALIKE, BIASED, GATE, NEAR_0, SEEN, WORSE, near_0_by_chance
from ..tables.table import ANY, Column
from .estimates import (
    Estimate,
    against_each,
    difference,
    distance,
    estimate,
    gap,
    mean,
    pearson,
    share,
    spearman,
    squared_difference,
)
from .model_numbers import Numbers
from .recovery import BEHAVIOUR, TEXTS, TRAINER

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"
CLAIMS = (
    Column("claim", "the claim's key"),
    Column("experiment", "E1 to E7: the paper's; downstream, kinds: not the paper's"),
    Column("text", "what is claimed, or what the number is"),
    Column("paper", "what the paper prints, of its BERT models"),
    TRAINER,
    Column("vectors", "which vectors it is about, as in factory.csv"),
    Column("against", "whose truth values are compared with, as in factory.csv"),
    Column("value", "the quantity, of all judged models", "number", "the quantity's", ANY),
    Column(
        "low",
        "lower end of its 95 % interval over plans: a t-interval of means, from 3 plans on; a bootstrap of "
        "correlations and of differences of R² over models, from 20 plans on",
        "number",
        "the quantity's",
        ANY,
    ),
    Column("high", "upper end of its 95 % interval over plans", "number", "the quantity's", ANY),
    Column("side", "where the quantity should lie; empty of a number without a claim", values=(">", "<", "")),
    Column("threshold", "above or below what", "number", "the quantity's", ANY),
    Column(
        "reliability",
        "Cronbach's alpha of the errors over the task's sentences, mean over the models; of downstream errors",
        "number",
        range=(-math.inf, 1),
    ),
    Column(
        "retest",
        "correlation of the scores with those of trainings on other corpora, mean over the models; of downstream "
        "errors, and empty without replicates",
        "number",
        range=(-1, 1),
    ),
    Column(
        "accuracy",
        "share of right pronouns in the task, mean over the models (chance: .5); of downstream errors",
        "number",
        range=(0, 1),
    ),
    Column("models", "how many models it is of", "count"),
    Column("plans", "how many pairs of mu and sigma these have", "count"),
    Column(
        "verdict",
        "whether the claim holds; empty of a number without one; of about 60 claims per trainer and vectors, none is "
        "adjusted for how many they are",
        values=(HOLDS, FAILS, OPEN, ""),
    ),
)
COLUMNS = [column.name for column in CLAIMS]
CLAIM_TEXTS = (*COLUMNS[:7], "side", "verdict")
LABELS = {
    "same": "SAME",
    "same_skew": "SAME skew",
    "same_stereotype": "SAME stereotype",
    "direct_bias": "Direct Bias",
    "weat": "WEAT",
    "weat_es": "WEAT's effect size",
    "mac": "MAC",
    "unmasking": "the unmasking bias",
}
WHOSE = {"planted": "what was planted", "unmasking": "the unmasking bias", "errors": "downstream errors"}


@dataclass(frozen=True)
class Claim:
    """A claim, or a number beside the paper's.

    `columns` are what `statistic` (weights (draws, n), then the columns (n,)) is taken of, per model; per plan, if
    `of_plans`. A column is None where nothing was measured: then there is no such claim. With `others` the statistic
    is taken of the columns and each of them, and the claim must hold of all (`against_each`). Of each of `groups` (1
    for a model that is in it), where the claim compares groups of models, there must be enough plans. A `number` is
    no statistic of models. `task` has the row's "reliability", "retest" and "accuracy".
    """

    key: str
    experiment: str
    text: str
    columns: Sequence[np.ndarray | None]
    statistic: Callable[..., np.ndarray]
    side: str = ""
    threshold: float = math.nan
    paper: str = ""
    against: str = ""
    of_plans: bool = False
    task: Mapping[str, float] = field(default_factory=dict)
    number: float | None = None
    others: Sequence[np.ndarray | None] = ()
    groups: Sequence[np.ndarray] = ()


def write_claims(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write claims.csv, from factory.csv (inputs: "models"; spec: "nearer", which group higher scores of a metric are
    nearer to)."""
    write_frame(claims(read_frame(inputs["models"], TEXTS), spec["nearer"]), output)


def write_figure_table(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the table that a figure (spec: "figure") is drawn from, from claims.csv (inputs: "claims")."""
    write_frame(figure_table(read_frame(inputs["claims"], CLAIM_TEXTS), spec["figure"]), output, "%.6g")


def figure_table(found: pd.DataFrame, figure: str) -> pd.DataFrame:
    """The rows of claims.csv that a figure is of: ``claims``, or ``downstream``, of which scores go with errors.

    Claims are those of the paper's comparisons: words with what was planted, sets with what the model says.
    """
    errors = found["claim"].str.startswith("errors_")
    if figure == "downstream":
        return found[errors].reset_index(drop=True)
    acting = found["trainer"].isin(found.loc[found["vectors"] == BEHAVIOUR, "trainer"])
    words = (found["experiment"] == "E3") & (found["against"] == "unmasking")
    sets = (found["experiment"] == "E6") & (found["against"] == "planted") & acting
    others = (words & (~found["claim"].str.startswith("same_below_unmasking"))) | sets
    return found[~errors & (found["side"] != "") & ~others].reset_index(drop=True)


def claims(models: pd.DataFrame, nearer: Mapping[str, str]) -> pd.DataFrame:
    """claims.csv, from factory.csv.

    Parameters
    ----------
    models
        factory.csv.
    nearer
        Metric -> the group that a word of a higher score is nearer to: "first" (male), "second", or "".
    """
    rows = []
    for trainer, mine in models.groupby("trainer", sort=False):
        gates = mine[mine["what"] == "gate"]
        if len(gates):
            # of all models: the others are judged because they pass
            found = Numbers(gates)
            rows += [(trainer, BEHAVIOUR, claim, found) for claim in _planting(found)]
        judged = mine[mine["judged"] == "yes"]
        if len(judged):
            found = Numbers(judged)
            rows += [
                (trainer, kind, claim, found)
                for kind in found.kinds
                for claim in _claims(found, kind, nearer)
            ]
            rows += [(trainer, BEHAVIOUR, claim, found) for claim in _errors(found, BEHAVIOUR, nearer)]
        if len(gates):
            found = Numbers(mine)
            rows += [(trainer, kind, claim, found) for kind in found.kinds for claim in _ungated(found, kind)]
    made = [
        _row(trainer, kind, claim, found)
        for trainer, kind, claim, found in rows
        if all(column is not None for column in (*claim.columns, *claim.others))
    ]
    return pd.DataFrame(made, columns=COLUMNS)


def verdict(side: str, threshold: float, low: float, high: float) -> str:
    """Whether a claim holds: its interval lies on the claimed side of the threshold. Empty without a claim."""
    if not side:
        return ""
    above, below = low > threshold, high < threshold
    if side == "<":
        above, below = below, above
    return HOLDS if above else FAILS if below else OPEN


def _row(trainer: str, kind: str, claim: Claim, found: Numbers) -> tuple:
    plans = np.arange(len(claim.columns[0])) if claim.of_plans else found.plans
    if claim.number is not None:
        of = Estimate(claim.number, math.nan, math.nan, 0, 0)
    elif claim.others:
        of = against_each(plans, claim.columns, claim.others, claim.statistic, claim.side == "<")
    else:
        of = estimate(plans, claim.columns, claim.statistic, groups=claim.groups)
    # what differs by rounding alone is no difference
    value, low, high = (round(number, 12) + 0.0 for number in of[:3])
    return (
        *(claim.key, claim.experiment, claim.text, claim.paper, trainer, kind, claim.against),
        *(value, low, high, claim.side, claim.threshold),
        *(claim.task.get(name, math.nan) for name in ("reliability", "retest", "accuracy")),
        *(of.models, of.plans, verdict(claim.side, claim.threshold, low, high)),
    )


def _planting(found: Numbers) -> Iterator[Claim]:
    gate = found.of_model(BEHAVIOUR, "gate", "planted")
    claim = partial(
        Claim, experiment="E2", against="planted", statistic=mean, paper="only models above .7 are kept"
    )
    yield claim("gate", text="Fine-tuning plants the bias: R² of unmasking and planted", columns=[gate], side=">",
                threshold=GATE)  # fmt: skip
    yield claim("gate_passed", text="Most models pass the gate, R² above .7 (share of models)",
                columns=[(gate > GATE).astype(float)], statistic=share, side=">", threshold=0.5)  # fmt: skip


def _claims(found: Numbers, kind: str, nearer: Mapping[str, str]) -> Iterator[Claim]:
    """All claims about vectors."""
    acts = found.true("unmasking", "mean") is not None
    truths = ["planted", "unmasking"] if acts else ["planted"]
    yield from _example(found, kind, truths[-1])
    for against in truths:
        yield from _words(found, kind, against)
    yield from _directions(found, kind)
    yield from _comparability(found, kind)
    for against in truths[::-1]:
        # the paper's truth of sets is the unmasking bias
        yield from _sets(found, kind, against, against == truths[-1])
    yield from _halves(found, kind)
    yield from _errors(found, kind, nearer)
    yield from _kinds(found, kind, truths)


def _example(found: Numbers, kind: str, against: str) -> Iterator[Claim]:
    smallest, bias = (
        found.of_model(kind, "example_smallest"),
        found.of_model(kind, "example_bias", against),
    )
    if smallest is None or bias is None:
        return
    near = np.where((bias > BIASED) & np.isfinite(smallest), smallest < NEAR_0, np.nan)
    claim = partial(Claim, experiment="E1", against=against, columns=[near], statistic=share)
    of = "d between −.1 and .1 in one of ten ways"
    yield claim("effect_size_near_0", text=f"The example's words, of a mean bias above .1: {of} (share of models)",
                paper="d 1.7299, -.0865, .000016")  # fmt: skip
    yield claim("effect_size_near_0_by_chance", number=near_0_by_chance(),
                text=f"By chance, six independent normal scores: {of} (share of draws)")  # fmt: skip


def _words(found: Numbers, kind: str, against: str) -> Iterator[Claim]:
    def of(metric: str, truth: str = "signed", whose: str = against) -> np.ndarray | None:
        return found.of_words(kind, metric, whose, truth=truth)

    planted = against == "planted"
    claim = partial(Claim, experiment="E3", against=against)
    same = of("same")
    # of the words that WEAT has: not of one whose share is a half, which is in neither of its sets
    yield claim("weat_is_same", text="WEAT and SAME agree in words: R² differ by less than .01", side="<",
                columns=[of("weat"), found.of_words(kind, "weat", against, "same_r_squared")],
                statistic=distance, threshold=0.01, paper="both about .4" if planted else "")  # fmt: skip
    more = partial(claim, statistic=difference, side=">", threshold=0.0)
    yield more("same_over_direct_bias", columns=[same, of("direct_bias", "unsigned")],
               text="SAME's words: more R² than Direct Bias's (SAME signed, Direct Bias unsigned: the paper's)",
               paper="about .4, .1" if planted else "")  # fmt: skip
    # what the paper compares differs in whether the sign counts, too: with one reading for both, the metrics alone do
    yield more("same_over_direct_bias_unsigned", text="SAME's words: more R² than Direct Bias's (both unsigned)",
               columns=[of("same", "unsigned"), of("direct_bias", "unsigned")])  # fmt: skip
    yield more("same_over_direct_bias_signed", text="SAME's words: more R² than Direct Bias's (both signed)",
               columns=[same, of("direct_bias")])  # fmt: skip
    yield more("same_over_mac", text="SAME's words: more R² than MAC's (SAME signed, MAC unsigned: the paper's)",
               columns=[same, of("mac", "unsigned")], paper="about .4, 0" if planted else "")  # fmt: skip
    yield claim("mac_near_0", text="MAC's words: R² near 0 (below .1), unsigned as in the paper", side="<",
                columns=[of("mac", "unsigned")], statistic=mean, threshold=0.1,
                paper="about 0" if planted else "")  # fmt: skip
    yield from _of_unmasking(found, kind, against)


# of what the gate decides on, both with the gate and without
GATED = {
    "unmasking_over_same": "The unmasking bias follows what was planted more than SAME's words",
    "same_below_unmasking": "SAME's words follow unmasking less than unmasking follows the planted share",
}


def _of_unmasking(found: Numbers, kind: str, against: str, suffix: str = "", of: str = "") -> Iterator[Claim]:
    unmasking, same = found.of_words(kind, "unmasking", "planted"), found.of_words(kind, "same", against)
    key = "unmasking_over_same" if against == "planted" else "same_below_unmasking"
    columns, side = ([unmasking, same], ">") if against == "planted" else ([same, unmasking], "<")
    yield Claim(key + suffix, "E3", GATED[key] + of, columns, difference, side, 0.0, against=against,
                paper="unmasking is highest" if against == "planted" else "")  # fmt: skip


def _ungated(found: Numbers, kind: str) -> Iterator[Claim]:
    """Claims about the unmasking bias of all models: the gate selects on what they compare."""
    for against in ("planted", "unmasking"):
        yield from _of_unmasking(found, kind, against, "_all", " (all models, also those that fail the gate)")


def _directions(found: Numbers, kind: str) -> Iterator[Claim]:
    """Section 5.2.1: of models that SAME sees, those in which Direct Bias sees it, too, and those in which it falls
    behind."""
    angle, same = found.of_model(kind, "angle"), found.of_words(kind, "same", "planted")
    claim = partial(Claim, experiment="E4", against="planted")
    for reading, truth in (("signed", "signed"), ("unsigned: the paper's", "unsigned")):
        other = found.of_words(kind, "direct_bias", "planted", truth=truth)
        if angle is None or same is None or other is None:
            continue
        suffix = "" if truth == "signed" else f"_{truth}"
        seen, lost = same >= SEEN, same - other
        alike, worse = (seen & (np.abs(lost) < ALIKE)).astype(float), (seen & (lost > WORSE)).astype(float)
        of = f"(Direct Bias {reading})"
        groups = [("alike", "is as good as SAME", alike, "10.859"), ("worse", "is worse", worse, "17.551")]
        for name, text, group, printed in groups:
            yield claim(f"angle_{name}{suffix}", text=f"Degrees between directions where Direct Bias {text} {of}",
                        columns=[np.where(group > 0, angle, np.nan)], statistic=mean, paper=printed)  # fmt: skip
        yield claim(f"angle_difference{suffix}", text=f"Directions are further apart where SAME sees more {of}",
                    columns=[angle, worse, alike], statistic=gap, groups=[worse, alike], side=">", threshold=0.0,
                    paper="17.551, 10.859")  # fmt: skip
        yield claim(f"angle_spearman{suffix}", text=f"The angle rises with what Direct Bias loses to SAME {of}",
                    columns=[angle, lost], statistic=spearman, side=">", threshold=0.0)  # fmt: skip


def _comparability(found: Numbers, kind: str) -> Iterator[Claim]:
    printed = {"direct_bias": ".306", "weat": ".150", "same": ".121", "unmasking": ".096"}
    between = {metric: found.differences(kind, metric) for metric in printed}
    claim = partial(Claim, experiment="E5", of_plans=True)
    for metric, paper in printed.items():
        yield claim(f"sd_difference_{metric}", text=f"Difference between replicates, {LABELS[metric]}", paper=paper,
                    columns=[between[metric]], statistic=mean)  # fmt: skip
    names = list(printed)
    for more, less in pairwise(names):
        yield claim(f"{more}_differs_more_than_{less}", side=">", threshold=0.0, statistic=difference,
                    text=f"Replicates differ more in {LABELS[more]} than in {LABELS[less]}",
                    columns=[between[more], between[less]],
                    paper=f"{printed[more]}, {printed[less]}")  # fmt: skip


def _sets(found: Numbers, kind: str, against: str, printed: bool) -> Iterator[Claim]:
    keys = ("same_skew", "same", "same_stereotype", "weat_es", "direct_bias", "mac")
    skew, same, stereotype, weat, direct, mac = (found.value(kind, metric) for metric in keys)
    average, sd, absolute = (found.true(against, truth) for truth in ("mean", "sd", "absolute"))
    claim = partial(Claim, experiment="E6", against=against, side=">", threshold=0.0)
    yield claim("skew_follows_mean", text="SAME skew follows the mean (r)", columns=[average, skew],
                statistic=pearson, paper="R² .21" if printed else "")  # fmt: skip
    yield claim("only_skew_follows_mean", text="SAME skew follows the mean most (R² over the next)",
                columns=[average, skew], others=[same, stereotype, weat, direct, mac], statistic=squared_difference,
                paper="only the skew" if printed else "")  # fmt: skip
    for metric, values in (("same", same), ("same_stereotype", stereotype), ("weat_es", weat)):
        yield claim(f"{metric}_follows_sd", text=f"{LABELS[metric]} follows the spread (r)",
                    columns=[sd, values], statistic=pearson, paper="p < .05" if printed else "")  # fmt: skip
    yield claim("stereotype_follows_sd_best", columns=[sd, stereotype], others=[same, weat, skew, direct, mac],
                text="SAME stereotype follows the spread most (R² over the next)",
                statistic=squared_difference, paper="best" if printed else "")  # fmt: skip
    order = [("same_stereotype", stereotype), ("same", same), ("weat_es", weat)]
    for (more, first), (less, second) in pairwise(order):
        yield claim(f"{more}_over_{less}_absolute", columns=[absolute, first, second],
                    text=f"{LABELS[more]} follows the distance more than {LABELS[less]} (R²)",
                    statistic=squared_difference, paper="in this order" if printed else "")  # fmt: skip
    for metric, values in (("mac", mac), ("direct_bias", direct)):
        for name, truth, what in (("sd", sd, "spread"), ("absolute", absolute, "distance")):
            yield claim(f"same_over_{metric}_{name}", columns=[truth, same, values],
                        text=f"SAME follows the {what} more than {LABELS[metric]} (R²)",
                        statistic=squared_difference, paper="poor" if printed else "")  # fmt: skip


def _halves(found: Numbers, kind: str) -> Iterator[Claim]:
    printed = {"mac": ".0010", "weat_es": ".0397", "direct_bias": ".0018", "same": ".0016"}
    printed |= {"same_stereotype": ".0016", "same_skew": ".0022"}
    moved = {metric: found.halves(kind, metric) for metric in printed}
    claim = partial(Claim, experiment="E7")
    for metric, paper in printed.items():
        # the paper says both [-1, 1] and [-2, 2]
        of = " (of a range of 4; of 2 it is double)" if metric == "weat_es" else ""
        yield claim(f"halves_{metric}", text=f"How far half the words move {LABELS[metric]}{of}", paper=paper,
                    columns=[moved[metric]], statistic=mean)  # fmt: skip
    yield claim("halves_unmasking", text="How far half the words move the mean of the unmasking bias",
                columns=[found.halves(kind, "unmasking")], statistic=mean)  # fmt: skip
    for key, metric, side, text in (
        ("weat_es_moves_most", "weat_es", ">", "Half the words move WEAT's effect size most (over the next)"),
        ("mac_moves_least", "mac", "<", "Half the words move MAC least (over the next)"),
    ):
        others = [values for name, values in moved.items() if name != metric]
        rest = [value for name, value in printed.items() if name != metric]
        bound = max(rest) if side == ">" else min(rest)
        yield claim(key, text=text, columns=[moved[metric]], others=others, statistic=difference, side=side,
                    threshold=0.0, paper=f"{printed[metric]}, next {bound}")  # fmt: skip


def _errors(found: Numbers, kind: str, nearer: Mapping[str, str]) -> Iterator[Claim]:
    """Which word scores go with the downstream errors: R² with the sign of r, such that positive is the right way."""
    reliable, accuracy = (found.of_model(BEHAVIOUR, what) for what in ("errors_reliability", "accuracy"))
    claim = partial(Claim, experiment="downstream", against="errors", side=">", threshold=0.0)
    names = ["unmasking"] if kind == BEHAVIOUR else list(nearer)
    for metric in names:
        way = "first" if metric == "unmasking" else nearer[metric]
        r = found.of_words(kind, metric, "errors", "pearson", "signed" if way else "unsigned")
        if r is None:
            continue
        signed = r * np.abs(r) * (-1 if way == "second" else 1)
        task = {"reliability": reliable, "retest": found.retest(kind, metric), "accuracy": accuracy}
        of = LABELS.get(metric, metric)
        yield claim(f"errors_{metric}", columns=[signed], statistic=mean,
                    text=f"Words' scores go with downstream errors: {of}{'' if way else ', unsigned'} (R² with sign)",
                    task={name: _mean(values, signed) for name, values in task.items()})  # fmt: skip
    if kind != BEHAVIOUR:
        unmasking, same = (found.of_words(kind, metric, "errors") for metric in ("unmasking", "same"))
        yield claim("unmasking_over_same_errors", columns=[unmasking, same], statistic=difference,
                    text="The unmasking bias goes with downstream errors more than SAME's words (R²)")  # fmt: skip


def _mean(values: np.ndarray | None, of: np.ndarray) -> float:
    """The mean of the models that have `of`; NaN where none has a value."""
    there = np.array([]) if values is None else values[np.isfinite(values) & np.isfinite(of)]
    return float(there.mean()) if len(there) else math.nan


def _kinds(found: Numbers, kind: str, truths: Sequence[str]) -> Iterator[Claim]:
    """What context adds: the vectors of one model before and after it."""
    if kind != "contextual":
        return
    for against in (*truths, "errors"):
        after, before = (found.of_words(of, "same", against) for of in (kind, "input"))
        yield Claim("contextual_over_input", "kinds",
                    f"SAME's words: contextual vectors follow {WHOSE[against]} more than input (R²)",
                    [after, before], difference, ">", 0.0, against=against)  # fmt: skip
