"""The least biased model of each metric, and whether that is decided."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import BiasgridError
from ..numbers import NO_VALUE, p_number
from ..statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ..tables.answers import answers_of

if TYPE_CHECKING:
    from ..plan.study import Study
    from ..verdicts.least_biased import Answer, RankedState

COLUMNS = (
    *("metric", "model_label", "decided", "p_adjusted", "undecided", "not_ranked"),
    *("queries", "queries_of", "criterion", "model", "smallest_difference"),
)
NOT_COMPARED = {
    NO_BASELINE: "no model where models have no baseline: inference: random_groups compares them",
    NO_COMMON_ZERO: "no model where models differ by the metric on random words, too",
}


class LeastBiased(pd.DataFrame):  # type: ignore[misc]  # pandas has no types here
    """A frame that prints what matters in 80 columns; what is selected from it is a plain one."""

    def __repr__(self) -> str:
        return _text(self) if set(COLUMNS) <= {*self.columns} else super().__repr__()


def least_biased(
    study: Study, criteria: Iterable[str], metrics: Sequence[str], debiased: bool
) -> pd.DataFrame:
    """`Grid.least_biased`."""
    if not study.config.inference.bootstrap:
        raise BiasgridError(
            "least_biased: which model is decided needs a bootstrap, which this grid does not have"
        )
    by_place = {(answer.criterion, answer.metric): answer for answer in answers_of(study)}
    places = [(criterion, metric) for criterion in criteria for metric in metrics]
    rows = [row for place in places if place in by_place for row in _rows(by_place[place], study, debiased)]
    table = LeastBiased(rows, columns=list(COLUMNS))
    reasons = {by_place[place].not_compared for place in places if place in by_place}
    table.attrs["not_compared"] = [reason for reason in NOT_COMPARED if reason in reasons]
    return table


def _text(table: pd.DataFrame) -> str:
    """The table in lines of 80 characters: pandas would leave out the columns in the middle."""
    columns = {name: table[name].astype(str) for name in ("criterion", "metric", "model_label")}
    if table["criterion"].nunique() < 2:
        del columns["criterion"]
    columns["decided"] = table["decided"].map({True: "yes", False: "no"})
    columns["p_adjusted"] = table["p_adjusted"].map(p_number).replace(NO_VALUE, "")
    columns["queries"] = table["queries"].astype(str) + " of " + table["queries_of"].astype(str)
    widths = {name: max([len(name), *texts.str.len()]) for name, texts in columns.items()}
    room = 80 - sum(width + 2 for name, width in widths.items() if name != "model_label")
    widths["model_label"] = max(len("model_label"), min(widths["model_label"], room))
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    lines_of_text = [
        "  ".join(
            (text if len(text) <= width else f"{text[: width - 3]}...").ljust(width)
            for text, width in zip(line, widths.values(), strict=True)
        ).rstrip()
        for line in lines
    ]
    lines_of_text += [NOT_COMPARED[reason] for reason in table.attrs.get("not_compared", ())]
    hidden_columns = ", ".join(name for name in table.columns if name not in columns)
    note = textwrap.fill(f"[{len(table)} rows; also: {hidden_columns}]", 80, subsequent_indent=" ")
    return "\n".join([*lines_of_text, note])


def _rows(answer: Answer, study: Study, debiased: bool) -> Iterator[dict[str, Any]]:
    """The rows of a criterion and metric."""
    labels = study.labels
    names = {s.model: _name(s, labels) for s in (*answer.models, *answer.not_ranked)}
    place = {"metric": answer.metric, "criterion": answer.criterion}
    first = answer.least_biased or (
        answer.models[0].model if answer.models and not answer.not_compared else ""
    )
    yield place | {
        "model_label": labels[first] if first else "",
        "model": first,
        "decided": answer.is_decided,
        "p_adjusted": answer.p_adjusted,
        "undecided": "; ".join(names[model] for model in answer.undecided),
        "not_ranked": "; ".join(names[state.model] for state in answer.not_ranked),
        "queries": answer.queries,
        "queries_of": answer.queries_of,
        "smallest_difference": answer.smallest_difference,
    }
    for state in answer.debiased if debiased else ():
        yield place | {
            "model_label": f"{labels[state.model]} under {labels[state.debias]}",
            "model": f"{state.model} under {state.debias}",
            "decided": state.direction == "less",
            "p_adjusted": state.p_adjusted,
            "undecided": "" if state.direction or state.reason else labels[state.model],
            "not_ranked": "",
            "queries": state.queries,
            "queries_of": state.queries_of,
            "smallest_difference": state.smallest_difference,
        }


def _name(state: RankedState, labels: Mapping[str, str]) -> str:
    """A model's label, with the number of its queries where it lost some."""
    lost = f": {state.queries} of {state.queries_of} queries" if state.has_lost_queries else ""
    return f"{labels[state.model]}{lost}"
