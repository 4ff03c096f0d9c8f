"""Figure of what a model answers to analogy questions, with and without the question's own words as answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..numbers import share
from .figure import Drawing, Example, Figure, evaluations_of, group_by_size, pages
from .frame import MARGIN, PAGE, styled
from .layout import add_axes, add_box, page
from .palette import LESS_LIGHT, MORE_LIGHT, Look
from .questions import WORDS
from .rows import from_tables, rows_of
from .text import BOLD, LONGEST_HEAD, NORMAL, SMALL, fit_text, line_count, shorten, text_width
from .visuals import legend_area, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

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
        best_answers = of_model[of_model["questions"] == name]
        first = next((":".join(p) for p in pairs if (best_answers["pair"] == ":".join(p)).any()), "")
        best_answers = best_answers[best_answers["pair"].isin([first, ""])].set_index(
            ["word", "method", "excluded"]
        )
        row_words = [word for word in words if word in best_answers.index.get_level_values(0)][:MOST]
        blocks[name] = first, f"{len(pairs)} pair{'s' * (len(pairs) > 1)}", row_words, best_answers
    methods = {
        method
        for *_, row_words, best_answers in blocks.values()
        for _, method, _ in best_answers.loc[row_words].index
    }
    columns = [(method, excluded) for method in METHODS if method in methods for excluded in ("no", "yes")]
    texts = {
        column: [
            best_answers.loc[(word, *column), "answer"].replace("_", " ")
            for _, _, row_words, best_answers in blocks.values()
            for word in row_words
            if (word, *column) in best_answers.index
        ]
        for column in columns
    }
    pairs_of = [(first, pairs) for first, pairs, *_ in blocks.values()]
    # the first column has the words; long answers take several lines
    row_names = [shorten(word, LONGEST_HEAD) for *_, row_words, _ in blocks.values() for word in row_words]
    first_column = max(text_width(name, SMALL) for name in row_names) * BOLD + 0.1
    room = PAGE[0] - 2 * MARGIN - first_column
    widths = _widths({column: [*texts[column], "own:100%"] for column in columns}, room)
    lines = {
        column: {
            text: fit_text(shorten(text), widths[column] - GUTTER + 0.005, SMALL) for text in texts[column]
        }
        for column in columns
    }
    heads = {
        (method, pair): fit_text(
            f"{METHODS[method]} ({pair[method not in PER_PAIR]})",
            (widths[method, "no"] + widths[method, "yes"] - GUTTER) / BOLD,
            SMALL,
        )
        for method in dict(columns)
        for pair in pairs_of
    }
    content_width = first_column + sum(widths.values()) + 2 * MARGIN
    head_height = max(map(line_count, heads.values())) * 0.12
    head = 0.22 + head_height + 2 * ROW

    def heights(row_words: Sequence[str], best_answers: pd.DataFrame) -> list[float]:
        counts = [
            max(
                line_count(lines[column][best_answers.loc[(word, *column), "answer"].replace("_", " ")])
                for column in columns
                if (word, *column) in best_answers.index
            )
            for word in row_words
        ]
        return [ROW + (n - 1) * 0.115 for n in counts]

    own_kinds = {
        kind for *_, row_words, best_answers in blocks.values() for kind in best_answers.loc[row_words, "own"]
    }
    content_height = sum(
        head + sum(heights(row_words, best_answers)) + 0.2
        for _, _, row_words, best_answers in blocks.values()
    )
    figure, top = page(
        f"{criterion}: answers to analogies",
        f'{labels.get(model, model)}. The best answer to "a is to b as the word on the left is to ?", with the '
        "question's own words as possible answers and without them. Below each column's name: how often the best "
        "answer is one of the question's own words, over all words and pairs.",
        [
            (text, legend_area(facecolor=SHADES[kinds[0]]))
            for text, kinds in {"the word itself": "c", "a word of the pairs": "ab"}.items()
            if own_kinds & set(kinds)
        ]
        or [("no answer is one of the question's own words", no_mark())],
        content_width,
        content_height,
    )
    for name, (first, pairs, row_words, best_answers) in blocks.items():
        row_heights = heights(row_words, best_answers)
        ends = head + np.cumsum(row_heights)
        height = head + sum(row_heights)
        axes = add_axes(figure, MARGIN, top, content_width - 2 * MARGIN, height)
        axes.set(xlim=(0, content_width - 2 * MARGIN), ylim=(height, 0), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.text(0, 0.1, name, weight="bold", size=NORMAL, va="center")
        line: Look = {"va": "center", "size": SMALL}
        x = first_column
        for method, excluded in columns:
            y = 0.22 + head_height + ROW / 2
            if excluded == "no":
                head_text = heads[method, (first, pairs)]
                axes.text(
                    x, y - ROW / 2, head_text, weight="bold", **line | {"va": "bottom", "linespacing": 1.1}
                )
            axes.text(x, y, "with own" if excluded == "no" else "without", color="#333333", **line)
            part = summary[
                (summary["questions"] == name)
                & (summary["method"] == method)
                & (summary["excluded"] == excluded)
            ]
            own_share = part.loc[part["measure"].str.startswith("own_"), "value"].sum()
            if excluded == "no" and len(part):
                axes.text(x, y + ROW, f"own: {share(own_share)}", color="#333333", **line)
            for i, word in enumerate(row_words):
                centre = ends[i] - row_heights[i] / 2
                if (word, method, excluded) in best_answers.index:
                    row = best_answers.loc[(word, method, excluded)]
                    if row["own"]:
                        corner, width = (
                            (x - 0.05, centre - row_heights[i] / 2),
                            widths[method, excluded] - 0.01,
                        )
                        shade = {"color": SHADES[row["own"]], "linewidth": 0}
                        add_box(axes, corner, width, row_heights[i], **shade)
                    axes.text(
                        x,
                        centre,
                        lines[method, excluded][row["answer"].replace("_", " ")],
                        linespacing=1.1,
                        **line,
                    )
                else:
                    axes.text(x, centre, "n/a", color="#666666", **line)
            x += widths[method, excluded]
        for i, word in enumerate(row_words):
            axes.text(0, ends[i] - row_heights[i] / 2, shorten(word, LONGEST_HEAD), weight="bold", **line)
        top += height + 0.2
    return figure


def _widths(texts: Mapping[tuple[str, str], Sequence[str]], room: float) -> dict[tuple[str, str], float]:
    """Widths of columns in inches: as their texts need, where there is room; or as their longest words do, and a part
    of what is left."""
    whole = {
        key: max(text_width(text, SMALL) for text in column_texts) + GUTTER
        for key, column_texts in texts.items()
    }
    words = {
        key: max(text_width(word, SMALL) for text in column_texts for word in text.split()) + GUTTER
        for key, column_texts in texts.items()
    }
    extra_width, spare_width = sum(whole.values()) - sum(words.values()), room - sum(words.values())
    if spare_width < 0:
        return {key: room * width / sum(words.values()) for key, width in words.items()}
    share = min(1.0, spare_width / extra_width) if extra_width else 0.0
    return {key: words[key] + share * (whole[key] - words[key]) for key in texts}


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late, as in `analogies`
    from ..evaluation.answers import GENERATED

    for criterion in study.config.evaluation:
        questions = [
            [name, [list(pair) for pair in question_set.pairs], list(question_set.words)]
            for name, question_set in study.evaluation_specs[criterion].questions.items()
            if question_set.words and set(question_set.methods) - {GENERATED}
        ]
        for model in evaluations_of(study, criterion) if questions else ():
            spec = {"labels": {model: study.labels[model]}, "criterion": criterion, "model": model}
            name = f"analogies-{slug(criterion)}-{model}"
            groups = group_by_size(
                questions, 8.0, lambda question_set: 1.0 + 0.27 * min(len(question_set[2]), MOST)
            )
            for drawing_name, (page_questions,) in pages(name, groups, 1):
                yield Drawing(drawing_name, spec=spec | {"questions": page_questions})


def _first_words(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The answers for the first ten words of each question."""
    words = {name: asked[:10] for name, _, asked in spec["questions"]}
    table = contents["analogies"]
    is_first = [word in words.get(of, ()) for of, word in zip(table["questions"], table["word"], strict=True)]
    return contents | {"analogies": table[is_first]}


FIGURES = (
    Figure(
        "analogies",
        "What a model answers to analogy questions, with and without the question's own words as answers.",
        from_tables(analogies),
        question=WORDS,
        drawings=_drawings,
        reads=("analogies", "analogy_summary"),
        needs="an evaluation with questions about words",
        reading='Rows are words, columns are methods of answering "a is to b as this word is to ?": on the '
        "left of each pair of columns the question's own words may be the answer, on the right they "
        "may not. Orange: the answer is the word itself; blue: it is a word of the pairs. Where a "
        "column is nearly all orange, the answers on its right are what the method is forced to say, "
        "and no evidence of bias.",
        example=Example(
            "thesis",
            "analogies-gender-bolukbasi-w2v-gnews-small",
            # of methods of one pair, the answers of the first
            {"rank": 1, "pair": ["", "he:she", "she:he"]},
            _first_words,
        ),
    ),
)
