"""Figure of what a model answers to analogy questions, with and without the question's own words as answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from .figure import Drawing, Figure, dealt, evaluations_of, pages, tables
from .layout import MARGIN, PAGE, add_axes, add_box, legend_area, no_mark, page, styled
from .palette import LESS_LIGHT, MORE_LIGHT
from .rows import from_tables, rows_of
from .text import BOLD, NORMAL, SMALL, fitted, line_count, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

METHODS = {  # in their order
    "pair_distance": "PairDistance",
    "3cosadd": "3CosAdd",
    "3cosavg": "3CosAvg",
    "lrcos": "LRCos",
    "difference_matching": "Difference matching",
}
MOST = 20  # words of a table
ROW = 0.165
GUTTER = 0.09  # inches between columns
SHADES = {"c": MORE_LIGHT, "a": LESS_LIGHT, "b": LESS_LIGHT}


@styled
def analogies(
    answers: pd.DataFrame,
    summary: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    questions: Sequence[tuple[str, Sequence[Sequence[str]], Sequence[str]]],
) -> figure.Figure:
    """The best answer to each word's question by every method that was asked, of the untouched model: one table per
    set of questions. Methods that ask one pair at a time are shown for the first pair.

    Parameters
    ----------
    answers, summary
        analogies.csv and analogy_summary.csv.
    labels
        What is printed for the model's key.
    criterion, model
        Whose questions, and which model answers them.
    questions
        Name, pairs and words of each set of questions; of the words the first twenty that have answers are shown.

    Raises
    ------
    BiasgridError
        Where there is no answer.
    """
    from ..evaluation.answers import PER_PAIR

    of_model = rows_of(rows_of(answers, "analogies", criterion), "analogies", model, column="model")
    of_model = of_model[(of_model["debias"] == "none") & (of_model["rank"] == 1)]
    summary = summary[
        (summary["criterion"] == criterion) & (summary["model"] == model) & (summary["debias"] == "none")
    ]
    blocks = {}
    for name, pairs, words in questions:
        mine = of_model[of_model["questions"] == name]
        first = next((":".join(p) for p in pairs if (mine["pair"] == ":".join(p)).any()), "")
        mine = mine[mine["pair"].isin([first, ""])].set_index(["word", "method", "excluded"])
        asked = [word for word in words if word in mine.index.get_level_values(0)][:MOST]
        blocks[name] = first, f"{len(pairs)} pair{'s' * (len(pairs) > 1)}", asked, mine
    asked_by = {method for *_, asked, mine in blocks.values() for _, method, _ in mine.loc[asked].index}
    columns = [(method, excluded) for method in METHODS if method in asked_by for excluded in ("no", "yes")]
    texts = {
        column: [
            mine.loc[(word, *column), "answer"].replace("_", " ")
            for _, _, asked, mine in blocks.values()
            for word in asked
            if (word, *column) in mine.index
        ]
        for column in columns
    }
    pairs_of = [(first, pairs) for first, pairs, *_ in blocks.values()]
    # the first column has the words; long answers take several lines
    first_column = max(text_width(w, SMALL) for *_, asked, _ in blocks.values() for w in asked) * BOLD + 0.1
    room = PAGE[0] - 2 * MARGIN - first_column
    wide = _widths({column: [*texts[column], "own:100%"] for column in columns}, room)
    lines = {
        column: {text: fitted(text, wide[column] - GUTTER + 0.005, SMALL) for text in texts[column]}
        for column in columns
    }
    heads = {
        (method, pair): fitted(
            f"{METHODS[method]} ({pair[method not in PER_PAIR]})",
            (wide[method, "no"] + wide[method, "yes"] - GUTTER) / BOLD,
            SMALL,
        )
        for method in dict(columns)
        for pair in pairs_of
    }
    across = first_column + sum(wide.values()) + 2 * MARGIN
    above = max(map(line_count, heads.values())) * 0.12
    head = 0.22 + above + 2 * ROW

    def heights(asked: Sequence[str], mine: pd.DataFrame) -> list[float]:
        counts = [
            max(
                line_count(lines[column][mine.loc[(word, *column), "answer"].replace("_", " ")])
                for column in columns
                if (word, *column) in mine.index
            )
            for word in asked
        ]
        return [ROW + (n - 1) * 0.115 for n in counts]

    owned = {own for *_, asked, mine in blocks.values() for own in mine.loc[asked, "own"]}
    down = sum(head + sum(heights(asked, mine)) + 0.2 for _, _, asked, mine in blocks.values())
    figure, top = page(
        f"{criterion}: answers to analogies",
        f'{labels.get(model, model)}. The best answer to "a is to b as the word on the left is to ?", with the '
        "question's own words as possible answers and without them. Below each column's name: how often the best "
        "answer is one of the question's own words, over all words and pairs.",
        [
            (text, legend_area(facecolor=SHADES[own[0]]))
            for text, own in {"the word itself": "c", "a word of the pairs": "ab"}.items()
            if owned & set(own)
        ]
        or [("no answer is one of the question's own words", no_mark())],
        across,
        down,
    )
    for name, (first, pairs, asked, mine) in blocks.items():
        tall = heights(asked, mine)
        ends = head + np.cumsum(tall)
        height = head + sum(tall)
        axes = add_axes(figure, MARGIN, top, across - 2 * MARGIN, height)
        axes.set(xlim=(0, across - 2 * MARGIN), ylim=(height, 0), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.text(0, 0.1, name, weight="bold", size=NORMAL, va="center")
        line = {"va": "center", "size": SMALL}
        x = first_column
        for method, excluded in columns:
            y = 0.22 + above + ROW / 2
            if excluded == "no":
                of = heads[method, (first, pairs)]
                axes.text(x, y - ROW / 2, of, weight="bold", **line | {"va": "bottom", "linespacing": 1.1})
            axes.text(x, y, "with own" if excluded == "no" else "without", color="#333333", **line)
            part = summary[
                (summary["questions"] == name)
                & (summary["method"] == method)
                & (summary["excluded"] == excluded)
            ]
            own = part.loc[part["measure"].str.startswith("own_"), "value"].sum()
            if excluded == "no" and len(part):
                axes.text(x, y + ROW, f"own: {own:.0%}", color="#333333", **line)
            for i, word in enumerate(asked):
                at = ends[i] - tall[i] / 2
                if (word, method, excluded) in mine.index:
                    row = mine.loc[(word, method, excluded)]
                    if row["own"]:
                        corner, width = (x - 0.05, at - tall[i] / 2), wide[method, excluded] - 0.01
                        shade = {"color": SHADES[row["own"]], "linewidth": 0}
                        add_box(axes, corner, width, tall[i], **shade)
                    axes.text(
                        x,
                        at,
                        lines[method, excluded][row["answer"].replace("_", " ")],
                        linespacing=1.1,
                        **line,
                    )
                else:
                    axes.text(x, at, "n/a", color="#666666", **line)
            x += wide[method, excluded]
        for i, word in enumerate(asked):
            axes.text(0, ends[i] - tall[i] / 2, word, weight="bold", **line)
        top += height + 0.2
    return figure


def _widths(texts: Mapping[tuple[str, str], Sequence[str]], room: float) -> dict[tuple[str, str], float]:
    """Widths of columns in inches: as their texts need, where there is room; or as their longest words do, and a part
    of what is left."""
    whole = {key: max(text_width(text, SMALL) for text in of) + GUTTER for key, of in texts.items()}
    words = {
        key: max(text_width(word, SMALL) for text in of for word in text.split()) + GUTTER
        for key, of in texts.items()
    }
    wanted, left = sum(whole.values()) - sum(words.values()), room - sum(words.values())
    if left < 0:
        return {key: room * width / sum(words.values()) for key, width in words.items()}
    share = min(1.0, left / wanted) if wanted else 0.0
    return {key: words[key] + share * (whole[key] - words[key]) for key in texts}


def _drawings(grid: Any) -> Iterator[Drawing]:
    # imported late, as in `analogies`
    from ..evaluation.answers import GENERATED

    for criterion, evaluated in grid.evaluation_specs.items():
        questions = [
            [name, [list(pair) for pair in asked.pairs], list(asked.words)]
            for name, asked in evaluated.questions.items()
            if asked.words and set(asked.methods) - {GENERATED}
        ]
        for model in evaluations_of(grid, criterion) if questions else ():
            spec = {"labels": {model: grid.labels[model]}, "criterion": criterion, "model": model}
            name = f"analogies-{slug(criterion)}-{model}"
            groups = dealt(questions, 8.0, lambda asked: 1.0 + 0.27 * min(len(asked[2]), MOST))
            for full, (some,) in pages(name, groups, 1):
                inputs = tables(grid, "analogies", "analogy_summary")
                yield Drawing(full, inputs, spec | {"questions": some})


FIGURES = (
    Figure(
        "analogies",
        "What a model answers to analogy questions, with and without the question's own words as answers.",
        _drawings,
        from_tables(analogies, "analogies", "analogy_summary"),
        needs="an evaluation with questions about words",
        reading='Rows are words, columns are methods of answering "a is to b as this word is to ?": on the '
        "left of each pair of columns the question's own words may be the answer, on the right they "
        "may not. Orange: the answer is the word itself; blue: it is a word of the pairs. Where a "
        "column is nearly all orange, the answers on its right are what the method is forced to say, "
        "and no evidence of bias.",
    ),
)
