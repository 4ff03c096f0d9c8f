"""Table of the least biased model according to each metric, and whether the result is clear."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from ...core.errors import BiasgridError
from ...core.notebook_html import CELL, MUTED, block, isolate
from ...core.numbers import NO_VALUE, p_number
from ...measure.aggregation import OVERALL
from ...measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ...tables.read_conclusions import answers_of

if TYPE_CHECKING:
    from ...tables.conclusions.least_biased import Answer, RankedState
    from ..study import Study

COLUMNS = (
    *("metric", "model_label", "decided", "p_adjusted", "undecided", "not_ranked"),
    *("queries", "queries_of", "criterion", "model", "smallest_difference"),
)
MODEL, NO_MODEL = "lowest model", "not compared"
NOT_COMPARED = {
    NO_BASELINE: "Models without a random-word baseline are not compared.",
    NO_COMMON_ZERO: "A metric by which models also differ on random words compares no models.",
}
ADD_GROUPS = "To compare models of vectors, add random_groups."


class LeastBiased(pd.DataFrame):  # type: ignore[misc]  # pandas has no types here
    """A frame that shows the main columns in 80 characters or as HTML; a selection from it is a plain frame."""

    def __repr__(self) -> str:
        return _as_text(self) if set(COLUMNS) <= {*self.columns} else super().__repr__()

    def _repr_html_(self) -> str | None:
        html: str | None = _as_html(self) if set(COLUMNS) <= {*self.columns} else super()._repr_html_()
        return html


def least_biased(
    study: Study, criteria: Iterable[str], metrics: Sequence[str], debiased: bool
) -> pd.DataFrame:
    """Return the table of `Grid.least_biased`."""
    if not study.config.inference.bootstrap:
        raise BiasgridError(
            "least_biased: finding a clearly lowest model needs a bootstrap, which this grid does not have"
        )
    by_place = {(answer.criterion, answer.metric): answer for answer in answers_of(study)}
    places = [(criterion, metric) for criterion in criteria for metric in metrics]
    rows = [row for place in places if place in by_place for row in _rows(by_place[place], study, debiased)]
    table = LeastBiased(rows, columns=list(COLUMNS))
    reasons = {by_place[place].not_compared for place in places if place in by_place}
    notes = [note for reason, note in NOT_COMPARED.items() if reason in reasons]
    if NO_BASELINE in reasons and "random_groups" not in study.config.inference.parts:
        notes.append(ADD_GROUPS)
    table.attrs["not_compared"] = notes
    table.attrs["labels"] = {metric: study.labels[metric] for metric in metrics}
    return table


def _readable_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns for people to read, by their headings."""
    has_debiased = bool(table["model"].str.contains(" under ", regex=False).any())
    columns = {
        "topic": table["criterion"].replace(OVERALL, "All topics"),
        "metric": table["metric"].map(table.attrs.get("labels", {})).fillna(table["metric"]),
        MODEL: table["model_label"].replace("", NO_MODEL),
        "clearly lower" if has_debiased else "clear winner": table["decided"].map({True: "yes", False: "no"}),
        "adjusted p": table["p_adjusted"].map(p_number).replace(NO_VALUE, ""),
        "queries": table["queries"].astype(str) + " of " + table["queries_of"].astype(str),
    }
    if table["criterion"].nunique() < 2:
        del columns["topic"]
    return {name: column.astype(str).tolist() for name, column in columns.items()}


def _notes(table: pd.DataFrame) -> list[str]:
    """Return the reasons why models are not compared, and the names of the table's columns."""
    return [
        *table.attrs.get("not_compared", ()),
        f"[{len(table)} rows; columns: {', '.join(map(str, table.columns))}]",
    ]


def _as_text(table: pd.DataFrame) -> str:
    """Return the table in lines of 80 characters; pandas would leave out the columns in the middle."""
    columns = _readable_columns(table)
    widths = {name: max(map(len, [name, *texts])) for name, texts in columns.items()}
    room = 80 - sum(width + 2 for name, width in widths.items() if name != MODEL)
    widths[MODEL] = max(len(MODEL), min(widths[MODEL], room))
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    lines_of_text = [
        "  ".join(
            (text if len(text) <= width else f"{text[: width - 3]}...").ljust(width)
            for text, width in zip(line, widths.values(), strict=True)
        ).rstrip()
        for line in lines
    ]
    notes = [textwrap.fill(note, 80, subsequent_indent=" " * note.startswith("[")) for note in _notes(table)]
    return "\n".join([*lines_of_text, *notes])


def _as_html(table: pd.DataFrame) -> str:
    """Return the same table and notes for a notebook; each topic is named once."""
    columns = _readable_columns(table)
    head = "".join(f'<th scope="col" style="{CELL} font-weight: 600;">{name}</th>' for name in columns)
    rows, topic = [], ""
    for cells in zip(*columns.values(), strict=True):
        row = dict(zip(columns, cells, strict=True))
        if row.get("topic") == topic:
            row["topic"] = ""
        topic = row.get("topic") or topic
        style = {"yes": "font-weight: 700;"}.get(cells[list(columns).index("adjusted p") - 1], "")
        texts = "".join(f'<td style="{CELL} {style}">{isolate(cell)}</td>' for cell in row.values())
        rows.append(f'<tr style="background: none;">{texts}</tr>')
    notes = "".join(f'<div style="{MUTED} font-size: 12.5px;">{escape(note)}</div>' for note in _notes(table))
    return block(
        '<table style="border-collapse: collapse; border: 0; font-size: 13px; font-variant-numeric: tabular-nums;">'
        f'<tr style="background: none;">{head}</tr>{"".join(rows)}</table>{notes}',
        760,
    )


def _rows(answer: Answer, study: Study, debiased: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of a criterion and metric."""
    labels = study.labels
    names = {s.model: _model_label(s, labels) for s in (*answer.models, *answer.not_ranked)}
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


def _model_label(state: RankedState, labels: Mapping[str, str]) -> str:
    """Return a model's label, with the number of its queries if some could not be computed."""
    lost = f": {state.queries} of {state.queries_of} queries" if state.has_lost_queries else ""
    return f"{labels[state.model]}{lost}"
