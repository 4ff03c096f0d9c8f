"""How far a score can be trusted, in words: one rule per question, from intervals and resamples alone.

Cutoffs of reliability are conventions. Nunnally (Psychometric Theory, 1978) names .7 for early research, .8 for basic
research, .9 for decisions on single cases; Lance, Butts, Michels (2006) show how little the .7 rests on. Koo, Li
(2016) compare the interval with them, not the coefficient, so that a short list cannot pass by luck; so does this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..statistics.internal_consistency import times_for

EXCELLENT, GOOD, ACCEPTABLE, UNDECIDED, POOR = LEVELS = (
    "excellent",
    "good",
    "acceptable",
    "undecided",
    "poor",
)
HOLDS, MAY_TURN = "holds", "may turn"
VERDICTS = (*LEVELS, HOLDS, MAY_TURN)
THRESHOLDS = {"acceptable": 0.7, "good": 0.8, "excellent": 0.9, "holds": 0.95}
SCORE, WORDS, METRICS, TRAININGS = QUESTIONS = ("score", "words", "metrics", "trainings")
SIGN = "sign"
ONE_SIDED = "values lie on one side of the neutral value"
GOAL = 0.8  # the reliability that lengths of lists are given for


def of_interval(low: float, high: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """One of `LEVELS`: the highest that the whole interval is above; "poor" where it is below all; "undecided" where
    it holds the lowest. "" without an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    for level in (EXCELLENT, GOOD, ACCEPTABLE):
        if low >= thresholds[level]:
            return level
    return POOR if high < thresholds[ACCEPTABLE] else UNDECIDED


def of_share(share: float, thresholds: Mapping[str, float] = THRESHOLDS) -> str:
    """Whether what is true of this share of resampled lists "holds" or "may turn"; "" where it is not known."""
    if math.isnan(share):
        return ""
    return HOLDS if share >= thresholds["holds"] else MAY_TURN


def times_for_sign(z: float) -> float:
    """How many times as long all lists must be for the score to be told from the neutral value with a dependability
    (Brennan's Phi(lambda)) of .8: 4 / (z^2 - 1), with z^2 less its bias of 1; NaN where no length is known to do."""
    return GOAL / (1 - GOAL) / (z**2 - 1) if z**2 > 1 else math.nan


def card(record: Mapping[str, Any], thresholds: Mapping[str, float] = THRESHOLDS) -> list[dict[str, Any]]:
    """What is said of one score by itself.

    Parameters
    ----------
    record
        A score's inference: `bootstrap`, and `reliability` where it was asked for.
    thresholds
        As `THRESHOLDS`.

    Returns
    -------
    list of dict
        question     "score": would another list turn its sign? "words": would other items order its words alike?
        coefficient, value, low, high, set, words, items, note  as in reliability.csv
        z            of "score": standard errors from the neutral value
        percentile   of "words": the share of random groups whose alpha is lower; NaN where none were asked for
        times        how many times as long the lists must be for .8
        verdict      one of `VERDICTS`, or ""
    """
    rows: list[dict[str, Any]] = []
    if "bootstrap" in record:
        same_side, z = (_number(record["bootstrap"].get(name)) for name in ("same_side", "z"))
        row = {"question": SCORE, "coefficient": SIGN, "value": same_side, "z": z, "times": times_for_sign(z)}
        note = ONE_SIDED if math.isnan(same_side) else ""
        rows.append(row | {"verdict": of_share(same_side, thresholds), "note": note})
    for part in record.get("reliability", ()):
        value, low, high, omega = (_number(part[name]) for name in ("value", "low", "high", "omega"))
        row = {"question": WORDS, **part, "value": value, "low": low, "high": high, "omega": omega}
        row["percentile"] = _number(part.get("percentile"))
        rows.append(row | {"times": float(times_for(value)), "verdict": of_interval(low, high, thresholds)})
    return rows


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def odds(share: float) -> str:
    """A share of cases as people say it: "1 of 5 cases", "fewer than 1 of 100 cases"."""
    if share < 0.01:
        return "fewer than 1 of 100 cases"
    if share > 0.5:
        return f"{round(share * 10)} of 10 cases"
    return f"1 of {round(1 / share)} cases"


def sentence(what: str, share: float, words: int) -> str:
    """What a share of resampled lists says: `what` is "sign" or "order"."""
    turns = {"sign": "turn the sign", "order": "change the order of two models"}[what]
    return f"Another list of {words} words would {turns} in {odds(1 - share)}."
