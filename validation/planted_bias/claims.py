"""Claims of Schroeder et al. (2021, section 5), and tests of them on the models.

Each claim places a quantity of models, such as a mean difference of R², on one side of a threshold. Its 95 %
interval is over plans (mu, sigma), and the replicates of a plan are a cluster. Means have a t-interval, from three
plans on. Correlations, and differences of R² over models, have a bootstrap interval, from 20 plans on (see
`estimates`). The claim holds if the interval is on the claimed side, and does not hold if it is on the other side. If
the interval contains the threshold, or if there are fewer plans, the result is inconclusive.

There are about 60 claims per trainer and kind of vectors, and intervals are not adjusted for their number. Of 60
claims without any effect, three are expected to have a conclusion by chance.
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

from biasgrid import metrics
from biasgrid.tables.table import ANY, Column, Table

from ..tables import REMEDY, write_frame
from .estimates import (
    Estimate,
    against_each,
    difference,
    distance,
    estimate,
    gap,
    mean,
    pearson,
    r_squared_difference,
    share,
    spearman,
)
from .model_numbers import Numbers
from .recovery import BEHAVIOUR, MODELS, TRAINER
from .thresholds import ALIKE, BIASED, GATE, NEAR_0, SEEN, WORSE, near_0_by_chance

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"


def _make(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make the table. `spec` has "nearer", the group to which words with higher scores of a metric are nearer."""
    return claims(MODELS.read(inputs["models"]), spec["nearer"])


CLAIMS = Table(
    "claims",
    "One row per claim of Schroeder et al. (2021), trainer and vectors: whether the models bear it out.",
    (
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
        Column(
            "side", "where the quantity should lie; empty of a number without a claim", values=(">", "<", "")
        ),
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
            "whether the claim holds; empty of a number without one; of about 60 claims per trainer and vectors, "
            "none is adjusted for how many they are",
            values=(HOLDS, FAILS, OPEN, ""),
        ),
    ),
    inputs=lambda factory: {"models": factory.results / "factory.csv"},
    make=_make,
    spec=lambda factory: {
        "nearer": {key: metrics.metric(entry.metric).nearer for key, entry in factory.config.metrics.items()}
    },
    remedy=REMEDY,
)
TABLES = (CLAIMS,)
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
WHOSE = {"planted": "injected bias", "unmasking": "unmasking bias", "errors": "downstream errors"}


@dataclass(frozen=True)
class Claim:
    """A claim, or a number for comparison with the paper.

    `statistic` gets weights (draws, n) and then the `columns` (n,): one number per model or, with `per_plan`, per
    plan. If a column is None, nothing was measured, and the claim is left out. With `rivals`, the statistic is
    computed from the columns and each rival, and the claim must hold for all of them (`against_each`). `groups` has
    the groups of models that a claim compares, with 1 for each member; each group must have enough plans. A claim
    with a `number` does not have a statistic. `task` has the row's "reliability", "retest" and "accuracy".
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
    per_plan: bool = False
    task: Mapping[str, float] = field(default_factory=dict)
    number: float | None = None
    rivals: Sequence[np.ndarray | None] = ()
    groups: Sequence[np.ndarray] = ()


def write_figure_table(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the table of a figure (spec: "figure") from claims.csv (inputs: "claims")."""
    write_frame(figure_table(CLAIMS.read(inputs["claims"]), spec["figure"]), output, "%.6g")


def figure_table(table: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return the rows of claims.csv for a figure: ``claims``, or ``downstream`` for correlations with errors.

    ``claims`` has the comparisons of the paper: words with the injected bias, and sets with the unmasking bias.
    """
    errors = table["claim"].str.startswith("errors_")
    if figure == "downstream":
        return table[errors].reset_index(drop=True)
    has_behaviour = table["trainer"].isin(table.loc[table["vectors"] == BEHAVIOUR, "trainer"])
    word_claims = (table["experiment"] == "E3") & (table["against"] == "unmasking")
    set_claims = (table["experiment"] == "E6") & (table["against"] == "planted") & has_behaviour
    excluded = (word_claims & (~table["claim"].str.startswith("same_below_unmasking"))) | set_claims
    return table[~errors & (table["side"] != "") & ~excluded].reset_index(drop=True)


def claims(models: pd.DataFrame, nearer: Mapping[str, str]) -> pd.DataFrame:
    """Make claims.csv from factory.csv.

    Parameters
    ----------
    models
        factory.csv.
    nearer
        Metric -> the group to which a word with a higher score is nearer: "first" (male), "second", or "".
    """
    candidates = []
    for trainer, trainer_models in models.groupby("trainer", sort=False):
        gates = trainer_models[trainer_models["what"] == "gate"]
        if len(gates):
            # Compute the claims about the inclusion criterion on all models, because only included models are judged.
            numbers = Numbers(gates)
            candidates += [(trainer, BEHAVIOUR, claim, numbers) for claim in _gate_claims(numbers)]
        judged_models = trainer_models[trainer_models["judged"] == "yes"]
        if len(judged_models):
            numbers = Numbers(judged_models)
            candidates += [
                (trainer, kind, claim, numbers)
                for kind in numbers.kinds
                for claim in _vector_claims(numbers, kind, nearer)
            ]
            candidates += [
                (trainer, BEHAVIOUR, claim, numbers) for claim in _error_claims(numbers, BEHAVIOUR, nearer)
            ]
        if len(gates):
            numbers = Numbers(trainer_models)
            candidates += [
                (trainer, kind, claim, numbers)
                for kind in numbers.kinds
                for claim in _claims_of_all_models(numbers, kind)
            ]
    rows = [
        _claim_row(trainer, kind, claim, numbers)
        for trainer, kind, claim, numbers in candidates
        if all(column is not None for column in (*claim.columns, *claim.rivals))
    ]
    return pd.DataFrame(rows, columns=CLAIMS.names)


def verdict(side: str, threshold: float, low: float, high: float) -> str:
    """Return whether a claim holds, by the side of the threshold on which its interval is. Empty without a claim."""
    if not side:
        return ""
    above, below = low > threshold, high < threshold
    if side == "<":
        above, below = below, above
    return HOLDS if above else FAILS if below else OPEN


def _claim_row(trainer: str, kind: str, claim: Claim, numbers: Numbers) -> tuple:
    plans = np.arange(len(claim.columns[0])) if claim.per_plan else numbers.plans
    if claim.number is not None:
        quantity = Estimate(claim.number, math.nan, math.nan, 0, 0)
    elif claim.rivals:
        quantity = against_each(plans, claim.columns, claim.rivals, claim.statistic, claim.side == "<")
    else:
        quantity = estimate(plans, claim.columns, claim.statistic, groups=claim.groups)
    # Round the numbers, so that rounding errors do not count as differences.
    value, low, high = (round(number, 12) + 0.0 for number in quantity[:3])
    return (
        *(claim.key, claim.experiment, claim.text, claim.paper, trainer, kind, claim.against),
        *(value, low, high, claim.side, claim.threshold),
        *(claim.task.get(name, math.nan) for name in ("reliability", "retest", "accuracy")),
        *(quantity.models, quantity.plans, verdict(claim.side, claim.threshold, low, high)),
    )


def _gate_claims(numbers: Numbers) -> Iterator[Claim]:
    gate = numbers.of_model(BEHAVIOUR, "gate", "planted")
    claim = partial(
        Claim, experiment="E2", against="planted", statistic=mean, paper="only models above .7 are kept"
    )
    yield claim("gate", text="Unmasking follows the injected bias (R²)", columns=[gate], side=">",
                threshold=GATE)  # fmt: skip
    yield claim("gate_passed", text="Most models have R² above .7 and are included (share)",
                columns=[(gate > GATE).astype(float)], statistic=share, side=">", threshold=0.5)  # fmt: skip


def _vector_claims(numbers: Numbers, kind: str, nearer: Mapping[str, str]) -> Iterator[Claim]:
    """Yield all claims about vectors."""
    has_behaviour = numbers.true("unmasking", "mean") is not None
    truths = ["planted", "unmasking"] if has_behaviour else ["planted"]
    yield from _example_claims(numbers, kind, truths[-1])
    for against in truths:
        yield from _word_claims(numbers, kind, against)
    yield from _direction_claims(numbers, kind)
    yield from _comparability_claims(numbers, kind)
    for against in truths[::-1]:
        # For sets, the paper uses the unmasking bias as the truth.
        yield from _set_claims(numbers, kind, against, against == truths[-1])
    yield from _halves_claims(numbers, kind)
    yield from _error_claims(numbers, kind, nearer)
    yield from _context_claims(numbers, kind, truths)


def _example_claims(numbers: Numbers, kind: str, against: str) -> Iterator[Claim]:
    smallest, bias = (
        numbers.of_model(kind, "example_smallest"),
        numbers.of_model(kind, "example_bias", against),
    )
    if smallest is None or bias is None:
        return
    is_near_0 = np.where((bias > BIASED) & np.isfinite(smallest), smallest < NEAR_0, np.nan)
    claim = partial(Claim, experiment="E1", against=against, columns=[is_near_0], statistic=share)
    event = "d between −.1 and .1 in one of ten ways"
    yield claim("effect_size_near_0", text=f"The example's words, of a mean bias above .1: {event} (share of models)",
                paper="d 1.7299, -.0865, .000016")  # fmt: skip
    yield claim("effect_size_near_0_by_chance", number=near_0_by_chance(),
                text=f"By chance, six independent normal scores: {event} (share of draws)")  # fmt: skip


def _word_claims(numbers: Numbers, kind: str, against: str) -> Iterator[Claim]:
    def r_squared(metric: str, truth: str = "signed") -> np.ndarray | None:
        return numbers.of_words(kind, metric, against, truth=truth)

    planted = against == "planted"
    claim = partial(Claim, experiment="E3", against=against)
    same_r2 = r_squared("same")
    # Use only WEAT's words, because a word with a share of one half is not in either of its sets.
    yield claim("weat_is_same", text="WEAT and SAME agree in words: R² differ by less than .01", side="<",
                columns=[r_squared("weat"), numbers.of_words(kind, "weat", against, "same_r_squared")],
                statistic=distance, threshold=0.01, paper="both about .4" if planted else "")  # fmt: skip
    exceeds = partial(claim, statistic=difference, side=">", threshold=0.0)
    yield exceeds("same_over_direct_bias", columns=[same_r2, r_squared("direct_bias", "unsigned")],
               text="SAME over Direct Bias in words (R², signs as in the paper)",
               paper="about .4, .1" if planted else "")  # fmt: skip
    # The paper compares one signed and one unsigned reading. With the same reading for both, only the metrics differ.
    yield exceeds("same_over_direct_bias_unsigned", text="SAME over Direct Bias in words (R², both unsigned)",
               columns=[r_squared("same", "unsigned"), r_squared("direct_bias", "unsigned")])  # fmt: skip
    yield exceeds("same_over_direct_bias_signed", text="SAME over Direct Bias in words (R², both signed)",
               columns=[same_r2, r_squared("direct_bias")])  # fmt: skip
    yield exceeds("same_over_mac", text="SAME over MAC in words (R², signs as in the paper)",
               columns=[same_r2, r_squared("mac", "unsigned")], paper="about .4, 0" if planted else "")  # fmt: skip
    yield claim("mac_near_0", text="MAC's words: R² near 0 (below .1), unsigned as in the paper", side="<",
                columns=[r_squared("mac", "unsigned")], statistic=mean, threshold=0.1,
                paper="about 0" if planted else "")  # fmt: skip
    yield from _unmasking_claims(numbers, kind, against)


# Claims about the quantity of the inclusion criterion are computed with and without the criterion.
GATED = {
    "unmasking_over_same": "Unmasking follows the injected bias more than SAME's words",
    "same_below_unmasking": "SAME follows unmasking less than unmasking the injected bias",
}


def _unmasking_claims(
    numbers: Numbers, kind: str, against: str, suffix: str = "", note: str = ""
) -> Iterator[Claim]:
    unmasking_r2, same_r2 = (
        numbers.of_words(kind, "unmasking", "planted"),
        numbers.of_words(kind, "same", against),
    )
    key = "unmasking_over_same" if against == "planted" else "same_below_unmasking"
    columns, side = ([unmasking_r2, same_r2], ">") if against == "planted" else ([same_r2, unmasking_r2], "<")
    yield Claim(key + suffix, "E3", GATED[key] + note, columns, difference, side, 0.0, against=against,
                paper="unmasking is highest" if against == "planted" else "")  # fmt: skip


def _claims_of_all_models(numbers: Numbers, kind: str) -> Iterator[Claim]:
    """Yield claims about the unmasking bias of all models, because the inclusion criterion selects by this bias."""
    for against in ("planted", "unmasking"):
        yield from _unmasking_claims(numbers, kind, against, "_all", ", all models")


def _direction_claims(numbers: Numbers, kind: str) -> Iterator[Claim]:
    """Yield claims of section 5.2.1 on the angles of models in which SAME recovers the bias.

    The claims compare models in which Direct Bias recovers it equally well with models in which it is worse.
    """
    angle, same_r2 = numbers.of_model(kind, "angle"), numbers.of_words(kind, "same", "planted")
    claim = partial(Claim, experiment="E4", against="planted")
    for reading, truth in (("signed", "signed"), ("unsigned, the paper's", "unsigned")):
        direct_r2 = numbers.of_words(kind, "direct_bias", "planted", truth=truth)
        if angle is None or same_r2 is None or direct_r2 is None:
            continue
        suffix = "" if truth == "signed" else f"_{truth}"
        sees_bias, loss = same_r2 >= SEEN, same_r2 - direct_r2
        alike, worse = (
            (sees_bias & (np.abs(loss) < ALIKE)).astype(float),
            (sees_bias & (loss > WORSE)).astype(float),
        )
        note = f"({reading})"
        groups = [("alike", "is as good as SAME", alike, "10.859"), ("worse", "is worse", worse, "17.551")]
        for name, text, group, printed in groups:
            yield claim(f"angle_{name}{suffix}", text=f"Degrees between directions where Direct Bias {text} {note}",
                        columns=[np.where(group > 0, angle, np.nan)], statistic=mean, paper=printed)  # fmt: skip
        yield claim(f"angle_difference{suffix}", text=f"Directions differ more if SAME sees more {note}",
                    columns=[angle, worse, alike], statistic=gap, groups=[worse, alike], side=">", threshold=0.0,
                    paper="17.551, 10.859")  # fmt: skip
        yield claim(f"angle_spearman{suffix}", text=f"The angle rises with Direct Bias's loss {note}",
                    columns=[angle, loss], statistic=spearman, side=">", threshold=0.0)  # fmt: skip


def _comparability_claims(numbers: Numbers, kind: str) -> Iterator[Claim]:
    printed = {"direct_bias": ".306", "weat": ".150", "same": ".121", "unmasking": ".096"}
    differences = {metric: numbers.differences(kind, metric) for metric in printed}
    claim = partial(Claim, experiment="E5", per_plan=True)
    for metric, paper in printed.items():
        yield claim(f"sd_difference_{metric}", text=f"Difference between replicates, {LABELS[metric]}", paper=paper,
                    columns=[differences[metric]], statistic=mean)  # fmt: skip
    names = list(printed)
    for first, second in pairwise(names):
        yield claim(f"{first}_differs_more_than_{second}", side=">", threshold=0.0, statistic=difference,
                    text=f"Replicates differ more in {LABELS[first]} than in {LABELS[second]}",
                    columns=[differences[first], differences[second]],
                    paper=f"{printed[first]}, {printed[second]}")  # fmt: skip


def _set_claims(numbers: Numbers, kind: str, against: str, printed: bool) -> Iterator[Claim]:
    keys = ("same_skew", "same", "same_stereotype", "weat_es", "direct_bias", "mac")
    skew, same_bias, stereotype, weat, direct_bias, mac = (numbers.value(kind, metric) for metric in keys)
    average, sd, absolute = (numbers.true(against, truth) for truth in ("mean", "sd", "absolute"))
    claim = partial(Claim, experiment="E6", against=against, side=">", threshold=0.0)
    yield claim("skew_follows_mean", text="SAME skew follows the mean (r)", columns=[average, skew],
                statistic=pearson, paper="R² .21" if printed else "")  # fmt: skip
    yield claim("only_skew_follows_mean", text="SAME skew follows the mean most (R² over the next)",
                columns=[average, skew], rivals=[same_bias, stereotype, weat, direct_bias, mac],
                statistic=r_squared_difference, paper="only the skew" if printed else "")  # fmt: skip
    for metric, values in (("same", same_bias), ("same_stereotype", stereotype), ("weat_es", weat)):
        yield claim(f"{metric}_follows_sd", text=f"{LABELS[metric]} follows the spread (r)",
                    columns=[sd, values], statistic=pearson, paper="p < .05" if printed else "")  # fmt: skip
    yield claim("stereotype_follows_sd_best", columns=[sd, stereotype],
                rivals=[same_bias, weat, skew, direct_bias, mac],
                text="SAME stereotype follows the spread most (R² over the next)", statistic=r_squared_difference,
                paper="best" if printed else "")  # fmt: skip
    order = [("same_stereotype", stereotype), ("same", same_bias), ("weat_es", weat)]
    for (first_metric, first_values), (second_metric, second_values) in pairwise(order):
        yield claim(f"{first_metric}_over_{second_metric}_absolute", columns=[absolute, first_values, second_values],
                    text=f"{LABELS[first_metric]} follows the distance more than {LABELS[second_metric]} (R²)",
                    statistic=r_squared_difference, paper="in this order" if printed else "")  # fmt: skip
    for metric, values in (("mac", mac), ("direct_bias", direct_bias)):
        for name, truth, label in (("sd", sd, "spread"), ("absolute", absolute, "distance")):
            yield claim(f"same_over_{metric}_{name}", columns=[truth, same_bias, values],
                        text=f"SAME follows the {label} more than {LABELS[metric]} (R²)",
                        statistic=r_squared_difference, paper="poor" if printed else "")  # fmt: skip


def _halves_claims(numbers: Numbers, kind: str) -> Iterator[Claim]:
    printed = {"mac": ".0010", "weat_es": ".0397", "direct_bias": ".0018", "same": ".0016"}
    printed |= {"same_stereotype": ".0016", "same_skew": ".0022"}
    shifts = {metric: numbers.halves(kind, metric) for metric in printed}
    claim = partial(Claim, experiment="E7")
    for metric, paper in printed.items():
        # The paper gives both [-1, 1] and [-2, 2] as the range.
        note = " (of a range of 4; of 2 it is double)" if metric == "weat_es" else ""
        yield claim(f"halves_{metric}", text=f"How far half the words move {LABELS[metric]}{note}", paper=paper,
                    columns=[shifts[metric]], statistic=mean)  # fmt: skip
    yield claim("halves_unmasking", text="How far half the words move the mean of the unmasking bias",
                columns=[numbers.halves(kind, "unmasking")], statistic=mean)  # fmt: skip
    for key, metric, side, text in (
        ("weat_es_moves_most", "weat_es", ">", "Half the words move WEAT's effect size most (over the next)"),
        ("mac_moves_least", "mac", "<", "Half the words move MAC least (over the next)"),
    ):
        rivals = [values for name, values in shifts.items() if name != metric]
        rest = [value for name, value in printed.items() if name != metric]
        bound = max(rest) if side == ">" else min(rest)
        yield claim(key, text=text, columns=[shifts[metric]], rivals=rivals, statistic=difference, side=side,
                    threshold=0.0, paper=f"{printed[metric]}, next {bound}")  # fmt: skip


def _error_claims(numbers: Numbers, kind: str, nearer: Mapping[str, str]) -> Iterator[Claim]:
    """Yield R² of word scores and downstream errors, with the sign of r; positive means the expected direction."""
    reliability, accuracy = (numbers.of_model(BEHAVIOUR, what) for what in ("errors_reliability", "accuracy"))
    claim = partial(Claim, experiment="downstream", against="errors", side=">", threshold=0.0)
    names = ["unmasking"] if kind == BEHAVIOUR else list(nearer)
    for metric in names:
        way = "first" if metric == "unmasking" else nearer[metric]
        r = numbers.of_words(kind, metric, "errors", "pearson", "signed" if way else "unsigned")
        if r is None:
            continue
        signed_r2 = r * np.abs(r) * (-1 if way == "second" else 1)
        task = {"reliability": reliability, "retest": numbers.retest(kind, metric), "accuracy": accuracy}
        label = LABELS.get(metric, metric)
        yield claim(f"errors_{metric}", columns=[signed_r2], statistic=mean, text="Words' scores go with downstream "
                    f"errors: {label}{'' if way else ', unsigned'} (R² with sign)",
                    task={name: _task_mean(values, signed_r2) for name, values in task.items()})  # fmt: skip
    if kind != BEHAVIOUR:
        unmasking_r2, same_r2 = (numbers.of_words(kind, metric, "errors") for metric in ("unmasking", "same"))
        yield claim("unmasking_over_same_errors", columns=[unmasking_r2, same_r2], statistic=difference,
                    text="Unmasking over SAME's words for downstream errors (R²)")  # fmt: skip


def _task_mean(values: np.ndarray | None, scores: np.ndarray) -> float:
    """Compute the mean over the models whose `scores` are finite; NaN if none has a value."""
    finite = np.array([]) if values is None else values[np.isfinite(values) & np.isfinite(scores)]
    return float(finite.mean()) if len(finite) else math.nan


def _context_claims(numbers: Numbers, kind: str, truths: Sequence[str]) -> Iterator[Claim]:
    """Yield claims about the effect of context: vectors of the same model before and after it."""
    if kind != "contextual":
        return
    for against in (*truths, "errors"):
        after, before = (numbers.of_words(vectors, "same", against) for vectors in (kind, "input"))
        yield Claim("contextual_over_input", "kinds",
                    f"SAME's words, {WHOSE[against]}: contextual over input (R²)",
                    [after, before], difference, ">", 0.0, against=against)  # fmt: skip
