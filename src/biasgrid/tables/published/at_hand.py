"""Printed ranks and their correlations among the printed models that a study ranks.

A rank depends on how many models are less biased, and so on which models are ranked. A study may lack some of
the printed models, or have others. Then both the printed ranks and the study's are computed again, among the
models that both have.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import join_names
from .published import CORRELATIONS
from .study_values import StudyValue, unit

if TYPE_CHECKING:
    import pandas as pd

# With two models, ranks agree by chance half of the time, and a correlation is 1 or -1.
LEAST = 3
# Names of quantities if some of the printed models are not in the study.
QUANTITIES = {
    "rank": "rank among models at hand",
    "correlation": "correlation among models at hand",
    "correlation_kendall": "Kendall correlation among models at hand",
}


@dataclass(frozen=True)
class AtHand:
    """The printed models that a study ranks.

    Attributes
    ----------
    states
        The model and debias key in the study of each printed model.
    note
        The models that the ranks are among; empty if the study ranks exactly the printed models.
    is_part
        Whether some of the printed models are not in the study.
    printed, ours
        The ranks among these models, by criterion and metric, a column for each printed model.
    """

    states: Mapping[str, tuple[str, str]]
    note: str = ""
    is_part: bool = False
    printed: pd.DataFrame | None = None
    ours: pd.DataFrame | None = None

    def compared(self, row: Any, value: StudyValue) -> tuple[Any, StudyValue]:
        """Return a published rank or correlation among these models, and the study's."""
        if not self.note or self.printed is None or self.ours is None or not value.in_study:
            return row, value
        keys = [(row.criterion, metric) for metric in row.metric.split("~")]
        if any(key not in ranks.index for ranks in (self.printed, self.ours) for key in keys):
            return row, StudyValue(reason="the ranks that it is over are not there", in_study=False)
        printed, ours = ([ranks.loc[key] for key in keys] for ranks in (self.printed, self.ours))
        if row.quantity == "rank":
            new, own = printed[0][row.model], ours[0][row.model]
        else:
            new, own = (
                a.corr(b, method=CORRELATIONS[row.quantity])
                if a.notna().all() and b.notna().all()
                else float("nan")
                for a, b in (printed, ours)
            )
        if self.is_part:
            row = row._replace(published=float(new), quantity=QUANTITIES[row.quantity])
        reason = "ours is NaN" if own != own else ""
        return row._replace(note="; ".join(filter(None, [row.note, self.note]))), StudyValue(
            float(own), reason
        )


def models_at_hand(
    part: pd.DataFrame, rankings: pd.DataFrame, published_as: Mapping[tuple[str, str], str]
) -> AtHand | None:
    """Return the models with ranks both in a source and in a study.

    Warns if two models of the study correspond to one printed model.

    Parameters
    ----------
    part
        The published numbers of one source.
    rankings, published_as
        As in `compare`.

    Returns
    -------
    AtHand or None
        None if the source does not print ranks, or if too few of its models are in the study.
    """
    ranks = part[part["quantity"] == "rank"]
    printed = sorted(set(ranks["model"]))
    ranked = [*rankings[["model", "debias"]].drop_duplicates().itertuples(index=False, name=None)]
    names = {state: published_as.get(state, unit(*state)) for state in ranked}
    counts = Counter(names.values())
    if twice := [name for name in printed if counts[name] > 1]:
        warnings.warn(
            f"{ranks['source'].iloc[0]}: its ranks and their correlations are not compared, because several models "
            f"of the study correspond to {join_names(twice)}",
            stacklevel=3,
        )
        return None
    states = {name: state for state, name in names.items() if name in printed}
    is_part, others = len(states) < len(printed), [name for name in counts if name not in printed]
    if not states or (is_part and len(states) < LEAST):
        return None
    if not is_part and not others:
        return AtHand(states)
    columns = sorted(states)
    note = f"without {', '.join(sorted(others))}, which the source does not rank"
    if is_part:
        note = f"among {len(columns)} of {len(printed)} printed models: {', '.join(columns)}"
    own = rankings.assign(
        printed_as=[names[m, d] for m, d in zip(rankings["model"], rankings["debias"], strict=True)]
    )
    return AtHand(
        states,
        note,
        is_part,
        _ranked_again(ranks, "model", "published", columns),
        _ranked_again(own, "printed_as", "rank", columns),
    )


def _ranked_again(table: pd.DataFrame, model: str, rank: str, models: Sequence[str]) -> pd.DataFrame:
    """Return the ranks of these models among each other, by criterion and metric."""
    of_models = table[table[model].isin(models)].drop_duplicates(["criterion", "metric", model])
    wide = of_models.pivot(index=["criterion", "metric"], columns=model, values=rank)
    return wide[[*models]].astype(float).rank(axis=1)
