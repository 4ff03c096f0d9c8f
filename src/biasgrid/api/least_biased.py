"""The least biased model of each metric, and whether that is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import BiasgridError
from ..labels import LENGTH_MARK, short_labels
from ..numbers import NO_VALUE, p_number
from ..statistics.shared import THESE_QUERIES
from ..tables.answers import answers_of, lengths_of

if TYPE_CHECKING:
    from ..plan.study import Study
    from ..verdicts.least_biased import Answer, RankedState

COLUMNS = (
    *("metric", "model_label", "decided", "p_adjusted", "undecided", "not_ranked"),
    *("queries", "queries_of", "criterion", "model", "holds_for"),
)

BORDERLINE = "~"
THESE_MARK = "*"


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
    places = ((criterion, metric) for criterion in criteria for metric in metrics)
    rows = [row for place in places if place in by_place for row in _rows(by_place[place], study, debiased)]
    table = LeastBiased([row for row, _ in rows], columns=list(COLUMNS))
    table.attrs["by_length"] = [
        f"{criterion} {metric}" for criterion, metrics in lengths_of(study).items() for metric in metrics
    ]
    table.attrs["borderline"] = sorted({row["p_adjusted"] for row, is_borderline in rows if is_borderline})
    return table


def _text(table: pd.DataFrame) -> str:
    """The table in lines of 80 characters: pandas would leave out the columns in the middle."""
    columns = {name: table[name].astype(str) for name in ("criterion", "metric", "model_label")}
    grows = (columns["criterion"] + " " + columns["metric"]).isin(table.attrs.get("by_length", []))
    columns["metric"] += grows.map({True: LENGTH_MARK, False: ""})
    if table["criterion"].nunique() < 2:
        del columns["criterion"]
    of_these = table["holds_for"] == THESE_QUERIES
    columns["decided"] = table["decided"].map({True: "yes", False: "no"})
    columns["decided"] += of_these.map({True: THESE_MARK, False: ""})
    p_values = table["p_adjusted"].map(p_number).replace(NO_VALUE, "")
    is_borderline = table["p_adjusted"].isin(table.attrs.get("borderline", []))
    columns["p_adjusted"] = p_values + is_borderline.map({True: BORDERLINE, False: ""})
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
    if is_borderline.any():
        lines_of_text.append(f"{BORDERLINE} borderline: another seed may say otherwise")
    if of_these.any():
        lines_of_text.append(f"{THESE_MARK} for other words and for these queries, not for others")
    if grows.any():
        lines_of_text.append(
            f"{LENGTH_MARK} grows with the length of vectors, which differs: does not compare"
        )
    hidden_columns = ", ".join(name for name in table.columns if name not in columns)
    return "\n".join([*lines_of_text, f"[{len(table)} rows; also: {hidden_columns}]"])


def _rows(answer: Answer, study: Study, debiased: bool) -> Iterator[tuple[dict[str, Any], bool]]:
    """The rows of a criterion and metric, and whether their p-value is borderline."""
    labels = study.labels | short_labels({model: study.labels[model] for model in study.models})
    names = {s.model: _name(s, labels) for s in (*answer.models, *answer.not_ranked)}
    place = {"metric": answer.metric, "criterion": answer.criterion}
    row = place | {
        "model_label": labels[answer.first[0].model] if answer.first else "",
        "model": answer.first[0].model if answer.first else "",
        "decided": answer.is_decided,
        "p_adjusted": answer.p_adjusted,
        "undecided": "; ".join(names[model] for model in answer.undecided),
        "not_ranked": "; ".join(names[state.model] for state in answer.not_ranked),
        "queries": answer.queries,
        "queries_of": answer.queries_of,
        "holds_for": answer.holds_for,
    }
    yield row, answer.is_borderline
    for state in answer.debiased if debiased else ():
        row = place | {
            "model_label": f"{labels[state.model]} under {labels[state.debias]}",
            "model": f"{state.model} under {state.debias}",
            "decided": state.direction == "less",
            "p_adjusted": state.p_adjusted,
            "undecided": "" if state.direction else labels[state.model],
            "not_ranked": "",
            "queries": state.queries,
            "queries_of": state.queries_of,
            "holds_for": state.holds_for,
        }
        yield row, state.is_borderline


def _name(state: RankedState, labels: Mapping[str, str]) -> str:
    """A model's label, with the number of its queries where it lost some."""
    lost = f": {state.queries} of {state.queries_of} queries" if state.has_lost_queries else ""
    return f"{labels[state.model]}{lost}"
