"""Does the answer about two models depend on a third? Compare the pairs of a study without each model in turn.

    python -m validation.calibration.left_out [--results results/embedded] [--to FOLDER]

Differences, their intervals and p-values that are not adjusted must be the same to the last digit. Adjusted p-values
may change, as there are fewer pairs. The table left_out.csv has each answer that changes, if it is "different" or
"alike" in the whole study or without the model.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from biasgrid import open_study
from biasgrid.core.in_memory import InMemory
from biasgrid.measure.statistics.two_models import ALIKE, DIFFERENT, MODELS
from biasgrid.study.views.frames import frame_of
from biasgrid.tables.pairs import PAIRS

NUMBERS = Path(__file__).parent / "numbers"
PREFIXES = {"these queries": "", "other queries": "other_"}
# A third model must not change these columns.
FIXED = ("difference", "low", "high", "p")
KEYS = ["criterion", "metric", "model_a", "model_b"]


def pairs_without(study: Any, left_out: str | None = None) -> pd.DataFrame:
    """Compare the pairs of a study's original models from its scores and resamples, without one of the models."""
    inputs, scores = dict(PAIRS.inputs_of(study)), frame_of(study, "scores")
    inputs["scores"] = InMemory(("scores",), scores[scores["model"] != left_out].reset_index(drop=True))
    pairs = PAIRS.frame(inputs, PAIRS.spec_of(study))
    return pairs[pairs["family"] == MODELS].set_index(KEYS).sort_index()


def find_changes(study: Any) -> pd.DataFrame:
    """Return each answer that changes without a model, with its adjusted p-values.

    Raises
    ------
    AssertionError
        If a difference, an end of an interval or a p-value that is not adjusted changes without a model.
    """
    whole, rows = pairs_without(study), []
    for left_out in study.models:
        rest = pairs_without(study, left_out)
        before = whole.loc[rest.index]
        for claim, prefix in PREFIXES.items():
            fixed = [f"{prefix}{name}" for name in FIXED]
            pd.testing.assert_frame_equal(before[fixed], rest[fixed], check_exact=True)
            answer, p_adjusted = f"{prefix}answer", f"{prefix}p_adjusted"
            is_clear = before[answer].isin((DIFFERENT, ALIKE)) | rest[answer].isin((DIFFERENT, ALIKE))
            for key in rest.index[is_clear & (before[answer] != rest[answer])]:
                row = {
                    "claim": claim,
                    "answer": before.loc[key, answer],
                    "p_adjusted": before.loc[key, p_adjusted],
                    "left_out": left_out,
                    "answer_without": rest.loc[key, answer],
                    "p_adjusted_without": rest.loc[key, p_adjusted],
                }
                rows.append(dict(zip(KEYS, key, strict=True)) | row)
    columns = [*KEYS, "claim", "answer", "p_adjusted", "left_out", "answer_without", "p_adjusted_without"]
    return pd.DataFrame(rows, columns=columns).sort_values([*KEYS, "claim"], ignore_index=True, kind="stable")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("results/embedded"))
    parser.add_argument("--to", type=Path, default=NUMBERS, help="folder of the table")
    given = parser.parse_args(arguments)
    changes = find_changes(open_study(given.results).study)
    changes.round(4).to_csv(given.to / "left_out.csv", index=False)
    print(changes.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
