"""Figure of a model's answers to analogy questions, with and without the question's own words as answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.files import slug
from ..core.numbers import share
from .figure import Drawing, Example, Figure, evaluations_of
from .frame import Frame, empty_page, styled
from .palette import colour_map
from .questions import WORDS
from .rows import from_tables, rows_of, rows_where
from .text import BOLD, LONGEST_HEAD, NORMAL, SMALL, fit_text, line_count, shorten, text_width, topic
from .types.heat import heat
from .types.rows import LINE, width
from .visuals import above_names, is_leftmost, legend_area

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

# Methods in their order.
METHODS = {
    "pair_distance": "PairDistance",
    "3cosadd": "3CosAdd",
    "3cosavg": "3CosAvg",
    "lrcos": "LRCos",
    "difference_matching": "Difference matching",
}
HEADING = "Answers to analogy questions"
# Largest number of words in a table.
MOST = 20
# Longest word that is not broken, in inches.
LONGEST = 1.2
# Owner of the word that an answer repeats -> index of its shade.
KINDS = {"": 0, "a": 1, "b": 1, "c": 2}
SHADES = ("#FFFFFF", "#E3E3E3", "#A9A9A9")


@styled
def analogies(
    answers: pd.DataFrame,
    summary: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    questions: Sequence[tuple[str, Sequence[Sequence[str]], Sequence[str]]],
) -> figure.Figure:
    """Draw the original model's best answer to each word's question by each method.

    Each set of questions has a line of panels. Methods that use one pair at a time are shown for the first pair.

    Parameters
    ----------
    answers, summary
        analogies.csv and analogy_summary.csv.
    labels
        Label of the model's key.
    criterion, model
        The criterion of the questions, and the model that answers them.
    questions
        Name, pairs and words of each set of questions. The first twenty words with answers are shown.

    Raises
    ------
    BiasgridError
        If all questions lack answers.
    """
    from ..evaluation.analogy_answers import PER_PAIR

    of_model = rows_where(
        rows_of(answers, "analogies", criterion=criterion, model=model), debias="none", rank=1
    )
    asked = rows_where(summary, criterion=criterion, model=model, debias="none", excluded="no")
    own_shares = (
        asked[asked["measure"].str.startswith("own_")].groupby(["questions", "method"])["value"].sum()
    )
    methods = [method for method in METHODS if method in set(of_model["method"])]
    parts, words_of, heads = {}, {}, {}
    for name, pairs, words in questions:
        best = rows_where(of_model, questions=name)
        first = next((":".join(pair) for pair in pairs if (best["pair"] == ":".join(pair)).any()), "")
        best = best[best["pair"].isin([first, ""])]
        words_of[name] = [word for word in words if word in set(best["word"])][:MOST]
        # Leave out panels of a set without answers.
        for method in methods if words_of[name] else ():
            parts[name, method] = rows_where(best[best["word"].isin(words_of[name])], method=method)
            of_all = f"{len(pairs)} pair{'s' * (len(pairs) > 1)}" if pairs else "two sets"
            of = first if method in PER_PAIR else of_all
            heads[name, method] = f"{METHODS[method]} ({of})"
            if (name, method) in own_shares.index:
                heads[name, method] += f"\nown words: {share(own_shares[name, method])}"
    if not parts:
        return empty_page(HEADING, "no question has an answer.")
    most = own_shares.max()
    page = Frame(
        HEADING if most != most else f"Up to {share(most)} of answers repeat the question's words",
        f"{topic(criterion)}, {labels.get(model, model)}: best answers to analogy questions",
        [
            'The question is "a is to b as the word on the left is to ?"; in the left column, its own words may be '
            "answers, in the right one not.",
            "Own words: how often the first answer is one of them, over all words and pairs.",
            "These are all questions that were asked: there are no intervals.",
        ],
    )
    names = {word: shorten(word, LONGEST_HEAD) for words in words_of.values() for word in words}
    wide = max(width(names), 0.8)
    room = page.inside - wide
    answered = {
        word for part in parts.values() for answer in part["answer"] for word in re.split("[_ ]", answer)
    }
    longest = min(max((text_width(word, SMALL) for word in answered), default=0.0), LONGEST)
    columns = max(1, min(len(methods), int(room / (2 * longest + 0.12))))
    inches = (room / columns - 0.12) / 2
    texts = {
        key: part.assign(
            answer=[fit_text(shorten(a.replace("_", " ")), inches, SMALL) for a in part["answer"]]
        )
        .pivot(index="word", columns="excluded", values="answer")
        .reindex(index=words_of[key[0]], columns=["no", "yes"])
        # Keep a column without answers a column of texts.
        .astype(object)
        for key, part in parts.items()
    }
    lines = {key: cells.fillna("").map(line_count).max(axis=None) for key, cells in texts.items()}
    heights = {key: len(cells) * (max(1, lines[key]) * LINE + 0.05) for key, cells in texts.items()}
    panels = page.panels(heads, heights, labels=wide, least=room / columns - 0.081, line=len(methods))
    shades = colour_map("own", [*SHADES])
    for (name, method), axes in panels.items():
        cells = texts[name, method]
        kinds = parts[name, method].assign(own=parts[name, method]["own"].fillna("").map(KINDS))
        matrix = kinds.pivot(index="word", columns="excluded", values="own").reindex_like(cells)
        heat(
            axes,
            matrix,
            cells.fillna("n/a"),
            ends=(0, 2),
            shades=shades,
            names=([names[word] for word in cells.index], ["with own", "without"]),
            on_top=True,
        )
        if not is_leftmost(axes):
            axes.set_yticks([])
        elif method == methods[0]:
            above_names(axes, fit_text(name, wide / BOLD, NORMAL), wide)
    drawn = {kind for part in parts.values() for kind in part["own"].fillna("").map(KINDS)}
    legend = {1: "the answer is a word of the pairs", 2: "the answer is the word itself"}
    return page.done(
        [(text, legend_area(facecolor=SHADES[kind])) for kind, text in legend.items() if kind in drawn]
    )


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late, as in `analogies`.
    from ..evaluation.analogy_answers import GENERATED

    for criterion in study.config.evaluation:
        questions = [
            [name, [list(pair) for pair in question_set.pairs], list(question_set.words)]
            for name, question_set in study.evaluation_specs[criterion].questions.items()
            if question_set.words and set(question_set.methods) - {GENERATED}
        ]
        for model in evaluations_of(study, criterion) if questions else ():
            spec = {"criterion": criterion, "model": model}
            yield Drawing(f"analogies-{slug(criterion)}-{model}", spec=spec | {"questions": questions})


def _first_words(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the answers for the first ten words of each question."""
    words = {name: asked[:10] for name, _, asked in spec["questions"]}
    table = contents["analogies"]
    is_first = [word in words.get(of, ()) for of, word in zip(table["questions"], table["word"], strict=True)]
    return contents | {"analogies": table[is_first]}


FIGURES = (
    Figure(
        "analogies",
        "Answers to analogy questions, with and without the question's own words.",
        from_tables(analogies),
        question=WORDS,
        heading=HEADING,
        asks="What does the model answer to analogies?",
        learn="You learn how many answers only repeat a word of the question.",
        drawings=_drawings,
        reads=("analogies", "analogy_summary"),
        facts=("labels",),
        needs="an evaluation with questions about words",
        reading="Dark: the answer is the row's word itself, light: a word of the pairs. If the left "
        "column of a method, which may give these, is dark, the answer on its right is forced "
        "and is not evidence of bias.",
        example=Example(
            "thesis",
            "analogies-gender-bolukbasi-w2v-gnews-small",
            # Show one list of questions and, for methods that use one pair, the answers of the first pair.
            {"rank": 1, "questions": "from male to female", "pair": ["", "he:she"]},
            _first_words,
        ),
    ),
)
