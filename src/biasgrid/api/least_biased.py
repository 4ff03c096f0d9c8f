"""The least biased model of each metric, and whether that is decided."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..debias import UNTOUCHED
from ..errors import BiasgridError
from .measured_study import states_of

if TYPE_CHECKING:
    import pandas as pd

    from .grid_frames import Grid


def least_biased(grid: Grid, criteria: Iterable[str], debiased: bool) -> pd.DataFrame:
    """`Grid.least_biased`."""
    import numpy as np
    import pandas as pd

    from ..comparison.study_values import unit
    from ..figures.figure import level
    from ..figures.order import pair_shares, resampled_pairs

    if "bootstrap" not in grid.study.config["inference"]:
        raise BiasgridError(
            "least_biased: which model is decided needs a bootstrap, which this grid does not have"
        )
    decided_from = (1 + level(grid.study)) / 2
    states = [state for state in states_of(grid.study) if debiased or state[1] == UNTOUCHED]
    rankings = grid.frame("rankings").set_index(["criterion", "metric", "model", "debias"])
    order = dict(list(resampled_pairs(grid.frame("order"))[0].groupby(["criterion", "metric"])))
    rows = []
    for place in ((criterion, metric) for criterion in criteria for metric in grid.metrics):
        row_of_state = {
            state: rankings.loc[(*place, *state)] for state in states if (*place, *state) in rankings.index
        }
        ranks = {state: row["rank"] for state, row in row_of_state.items() if not np.isnan(row["rank"])}
        if not ranks:
            continue
        first = min(ranks, key=lambda state: ranks[state])
        shares = pair_shares(order[place]) if place in order else {}
        share_over = {rival: shares.get((first, rival), np.nan) for rival in ranks if rival != first}
        undecided_rivals = [unit(*rival) for rival, share in share_over.items() if not share > decided_from]
        rows.append(
            {
                "criterion": place[0],
                "metric": place[1],
                "model": unit(*first),
                "decided": not undecided_rivals,
                "share_of_resamples": min(share_over.values(), default=np.nan),
                "undecided": ", ".join(undecided_rivals),
                "missing": int(row_of_state[first]["cells_nan"]),
            }
        )
    columns = ["criterion", "metric", "model", "decided", "share_of_resamples", "undecided", "missing"]
    return pd.DataFrame(rows, columns=columns)
