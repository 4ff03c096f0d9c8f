"""The bias of single words of a model: `biasgrid words`."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, join_names, quote
from ..core.numbers import count, number, p_value
from ..models.directions import DIRECTIONS, PCA
from .arguments import FILE, MODEL, PLUGINS, Commands, open_model
from .layout import add_forms, columns, paragraph, wants_table

if TYPE_CHECKING:
    import pandas as pd

    from ..queries.query import Query

LIST = "words, sets that come with biasgrid (debiaswe.professions), or .txt files with a word on each line"
TEST_NUMBERS = ("value", "chance", "p", "standardized", "error")
STANDARDIZED = (
    "Standardized: how many standard deviations further from 0 than random words that are as frequent, in the same "
    "model. 0 is as much as a random word."
)


def project(args: argparse.Namespace) -> dict[str, Any] | str:
    """Find the most and least biased words. Words are projected on the direction between two groups.

    biasgrid words project --model glove-6b-50d --pairs she:he woman:man \\
        --words debiaswe.professions
    biasgrid words project --model glove-6b-50d --query query.json \\
        --whole-vocabulary --count 20
    """
    from .. import word_bias
    from ..figures.showing import check_path

    check_path(args.figure)
    query = _one_query(args)
    words = _words(args.words, "--words")
    if args.whole_vocabulary and words:
        raise BiasgridError("give either --words or --whole-vocabulary, not both")
    if not words and not args.whole_vocabulary:
        words = [word for words_of_set in query.attribute_sets for word in words_of_set]
        if not words:
            raise BiasgridError(
                "no words: give --words, a query that has attribute sets, or --whole-vocabulary"
            )
    model = _debiased(args, open_model(args))
    result = word_bias.project(
        model,
        query,
        words or None,
        direction=args.direction,
        vocabulary=args.vocabulary or None,
        only_letters=not args.all_entries,
        exclude=_words(args.exclude, "--exclude"),
    )
    _warn_missing(result.model, result.missing)
    if args.figure:
        result.plot(path=args.figure)
    record = {
        "model": result.model,
        "groups": list(result.groups),
        "direction": args.direction,
        "summary": result.summary,
        "most": _records(result.most(args.count)),
        "least": _records(result.least(args.count)),
        "missing": list(result.missing),
    }
    if not wants_table(args):
        return record
    shown = ("word", "projection", "standardized", "leans")
    lines = [
        *paragraph("", f"{count(len(result.frame))} words of {result.model}: {' and '.join(result.groups)}"),
        "",
        "Furthest towards each group",
        *_lines(result.most(args.count), shown),
        "",
        "Nearest to 0",
        *_lines(result.least(args.count), shown),
        "",
        *paragraph("", STANDARDIZED),
    ]
    return "\n".join(lines)


def report(args: argparse.Namespace) -> dict[str, Any] | str:
    """Report the bias of one word and its neighbours, before and after debiasing.

    biasgrid words report --model glove-6b-50d --word nurse \\
        --pairs she:he woman:man
    biasgrid words report --model glove-6b-50d --word nurse \\
        --query gender.json race.json --debias hard.npz --figure nurse.png
    """
    from .. import word_bias
    from ..debias.transform import Transform
    from ..figures.showing import check_path

    check_path(args.figure)
    directions = {query.name: query for query in _queries(args)}
    transforms = {path.stem: Transform.load(path) for path in args.debias}
    if len(transforms) < len(args.debias):
        raise BiasgridError("--debias: two files have the same name, which identifies the method")
    result = word_bias.word_report(
        open_model(args),
        args.word,
        directions,
        direction=args.direction,
        transforms=transforms,
        neighbours=args.neighbours,
        vocabulary=args.vocabulary,
    )
    if args.figure:
        result.plot(path=args.figure)
    if not wants_table(args):
        return {
            "model": result.model,
            "word": result.word,
            "report": _records(result.frame),
            "neighbours": _records(result.neighbours),
        }
    lines = paragraph("", f"{result.word!r} in {result.model}")
    for row in result.frame.to_dict("records"):
        after = "before debiasing" if row["debias"] == "none" else f"after debiasing with {row['debias']}"
        nearest = result.neighbours[
            (result.neighbours["direction"] == row["direction"])
            & (result.neighbours["debias"] == row["debias"])
        ]["neighbour"].head(8)
        lines += [
            "",
            *paragraph("", f"{row['direction']}, {after}"),
            *paragraph(
                "  ",
                f"Projection {number(row['projection'])}{_compared(row['standardized'], 'random words')}"
                f"{', closer to ' + row['leans'] if row['leans'] else ''}.",
            ),
            *paragraph(
                "  ",
                f"Of {row['neighbours']} neighbours {row['lean_first']} are closer to {row['first_group']} and "
                f"{row['lean_second']} to {row['second_group']}"
                f"{_compared(row['share_standardized'], 'neighbours of random words')}.",
            ),
            *paragraph("  ", f"Nearest: {', '.join(nearest)}."),
        ]
    return "\n".join([*lines, "", *paragraph("", STANDARDIZED)])


def specific(args: argparse.Namespace) -> dict[str, Any] | str:
    """Learn which words refer to a group by definition, such as mother. It learns from a list of such words.

    biasgrid words specific --model glove-6b-50d --seeds debiaswe.gender_specific
    """
    from .. import word_bias

    result = word_bias.specific_words(
        open_model(args),
        _words(args.seeds, "--seeds"),
        vocabulary=args.vocabulary or None,
        only_letters=not args.all_entries,
        c=args.c,
        folds=args.folds,
        seed=args.seed,
    )
    _warn_missing(result.model, result.missing)
    if not wants_table(args):
        return {
            "model": result.model,
            "f1": result.f1,
            "f1_sd": result.f1_sd,
            "folds": result.folds,
            "training_words": result.training_words,
            "words": _records(result.frame),
            "missing": list(result.missing),
        }
    learned = result.frame[~result.frame["is_seed"]]
    lines = paragraph(
        "",
        f"{count(len(learned))} words learned in {result.model} from {count(result.training_words)} words; F1 "
        f"{number(result.f1)} (standard deviation {number(result.f1_sd)} over {result.folds} folds)",
    )
    return "\n".join([*lines, "", *_lines(learned, ("word", "score"))])


def indirect(args: argparse.Namespace) -> list[dict[str, Any]] | str:
    """Find words that are close to a neutral word because of the bias direction.

    biasgrid words indirect --model glove-6b-50d --pairs she:he woman:man \\
        --ends softball football --words debiaswe.professions
    """
    from .. import word_bias

    words = _words(args.words, "--words")
    if bool(words) == args.whole_vocabulary:
        raise BiasgridError("give one of --words and --whole-vocabulary")
    query = _one_query(args)
    model = _debiased(args, open_model(args))
    frame = word_bias.indirect_words(
        model,
        query,
        args.ends,
        words or None,
        direction=args.direction,
        count=args.count,
        vocabulary=args.vocabulary or None,
        only_letters=not args.all_entries,
    )
    if not wants_table(args):
        return _records(frame)
    shown = ("end", "word", "similarity", "beta", "bias", "standardized")
    lines = [
        *_lines(frame, shown),
        "",
        *paragraph("", "Beta: the share of the similarity that is due to the direction; 1 is all of it."),
        *paragraph("", STANDARDIZED),
    ]
    return "\n".join(lines)


def compare(args: argparse.Namespace) -> dict[str, Any] | str:
    """Compare the bias of words in several models.

    biasgrid words compare --models glove-6b-50d glove-6b-100d \\
        --pairs she:he woman:man --words debiaswe.professions --figure compare.png
    """
    from .. import word_bias
    from ..figures.showing import check_path
    from ..models.load import load

    check_path(args.figure)
    query = _one_query(args)
    words = _words(args.words, "--words")
    models = [load(str(path), kind="vectors") for path in args.models]
    result = word_bias.compare(models, query, words, direction=args.direction)
    if args.figure:
        result.plot(path=args.figure)
    if not wants_table(args):
        return {
            "groups": list(result.groups),
            "words": _records(result.frame),
            "correlations": _records(result.correlations),
        }
    shown = ("model_a", "model_b", "words", "pearson", "spearman")
    return "\n".join(_lines(result.correlations, shown))


def groups(args: argparse.Namespace) -> dict[str, Any] | str:
    """Test whether groups of words form clusters, or are neighbours of their own group.

    biasgrid words groups --model glove-6b-50d --query query.json
    """
    from .. import word_bias
    from ..queries.query import Query

    query = Query.read(args.query)
    model = _debiased(args, open_model(args))
    settings = {"permutations": args.permutations, "random_draws": args.random_draws, "seed": args.seed}
    results = {
        "clusters": word_bias.cluster_groups(model, query, **settings),
        "neighbours": word_bias.neighbour_groups(model, query, neighbours=args.neighbours, **settings),
    }
    _warn_missing(model.name, results["clusters"].missing)
    if not wants_table(args):
        return {
            "model": model.name,
            "groups": list(results["clusters"].groups),
            **{
                name: _record({key: getattr(result, key) for key in TEST_NUMBERS})
                | {"words": _records(result.frame)}
                for name, result in results.items()
            },
        }
    lines = paragraph("", f"{' and '.join(results['clusters'].groups)} in {model.name}")
    what = {
        "clusters": "words in the cluster of their group",
        "neighbours": "neighbours of a word's own group",
    }
    for name, result in results.items():
        lines += paragraph(
            "",
            f"{what[name].capitalize()}: {number(result.value)}, by chance {number(result.chance)}, "
            f"{p_value(result.p)}{_compared(result.standardized, 'groups of random words')}.",
        )
    return "\n".join(lines)


def _queries(args: argparse.Namespace) -> list[Query]:
    """Return the directions that a command names: the target sets of queries, and one direction from pairs."""
    from ..queries.query import Query
    from ..study.config.word_sets import REFERENCE, WORD_SETS, WordSets

    queries = [Query.read(path) for path in args.query]
    pairs: list[Sequence[str]] = []
    for text in args.pairs:
        if REFERENCE.fullmatch(text):
            pairs += WordSets(Path(WORD_SETS)).find(text, "--pairs")
        else:
            pairs.append(text.split(":"))
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        if not is_pair or not all(pair) or pair[0] == pair[1]:
            raise BiasgridError(f"--pairs: {quote(pair)}: expected two different words such as she:he")
    if pairs:
        first, second = zip(*pairs, strict=True)
        queries.append(Query({first[0]: first, second[0]: second}, repetitions="once"))
    if not queries:
        raise BiasgridError("no direction: give --pairs such as she:he woman:man, or --query with a file")
    names = [query.name for query in queries]
    if len(set(names)) < len(names):
        raise BiasgridError("--query: two queries have the same name, which identifies the direction")
    return queries


def _one_query(args: argparse.Namespace) -> Query:
    queries = _queries(args)
    if len(queries) > 1:
        raise BiasgridError(f"one direction is needed, not {len(queries)}: give --pairs, or one --query")
    return queries[0]


def _words(values: Sequence[str], flag: str) -> list[str]:
    """Return the words of arguments, each of which is a word, a set that comes with biasgrid, or a text file."""
    from ..evaluation.spec import first_words
    from ..study.config.word_sets import REFERENCE, WORD_SETS, WordSets

    sets = WordSets(Path(WORD_SETS))
    words: list[str] = []
    for value in values:
        if value.endswith(".txt"):
            try:
                text = Path(value).read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise BiasgridError(f"{flag}: {value}: not UTF-8: byte {error.start}") from None
            words += [line.strip() for line in text.splitlines() if line.strip()]
        elif REFERENCE.fullmatch(value):
            entries = sets.find(value, flag)
            found = first_words(entries)
            # A word may be followed by numbers, such as ratings, but not by other words.
            texts = [text for entry in entries for text in (entry[1:] if isinstance(entry, list) else ())]
            if any(isinstance(text, str) for text in texts) or not all(
                isinstance(word, str) for word in found
            ):
                raise BiasgridError(f"{flag}: {value} is not a list of words")
            words += found
        else:
            words.append(value)
    return list(dict.fromkeys(words))


def _debiased(args: argparse.Namespace, model: Any) -> Any:
    from ..debias.transform import Transform

    return model.under(Transform.load(args.debias)) if args.debias else model


def _warn_missing(model: str, missing: Sequence[str]) -> None:
    if missing:
        warnings.warn(f"{model} lacks {join_names(map(quote, missing))}", stacklevel=1)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, in which missing numbers are null."""
    return [_record(row) for row in frame.to_dict("records")]


def _record(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: None if value != value else value for key, value in row.items()}


def _compared(value: float, baseline: str) -> str:
    """Return the distance of a score from random words as the end of a sentence, or an empty text if unknown."""
    return "" if math.isnan(value) else f", {number(value)} standard deviations from {baseline}"


def _lines(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the rows of a table as lines, with the names of the columns above."""
    rows = [
        [number(value) if isinstance(value, float) else str(value) for value in row]
        for row in frame[list(names)].itertuples(index=False)
    ]
    return columns([list(names), *rows]) if rows else ["none"]


def add(commands: Commands) -> None:
    commands.add_group(
        "words", "Measure the bias of single words. List the most biased words, or report one word."
    )
    query: dict[str, Any] = {
        "nargs": "+",
        "type": Path,
        "default": [],
        "metavar": "FILE",
        "help": "a JSON file of a query, whose two target sets have the direction between them",
    }
    direction: dict[str, Any] = {
        "query": query,
        "pairs": {
            "nargs": "+",
            "default": [],
            "metavar": "A:B",
            "help": "pairs of words such as she:he woman:man, or a set of pairs (debiaswe.definitional_pairs)",
        },
        "direction": {
            "choices": DIRECTIONS,
            "default": PCA,
            "help": f"how the direction is found (default {PCA}); pca and pair take word i of both sets as a pair",
        },
    }
    words: dict[str, Any] = {"nargs": "+", "default": [], "metavar": "WORD", "help": LIST}
    vocabulary: dict[str, Any] = {
        "type": int,
        "default": 50_000,
        "help": "how many rows of the model are read (default 50000; 0: all)",
    }
    every: dict[str, Any] = {
        "vocabulary": vocabulary,
        "all_entries": {
            "action": "store_true",
            "help": "also read names, numbers and signs; by default only words of lower-case letters",
        },
    }
    whole: dict[str, Any] = {
        "whole_vocabulary": {"action": "store_true", "help": "look at all words"},
        **every,
    }
    number_of: dict[str, Any] = {
        "type": int,
        "default": 10,
        "help": "how many words of each side (default 10)",
    }
    debias: dict[str, Any] = {
        "type": Path,
        "metavar": "TRANSFORM.npz",
        "help": "use the model after this debiasing; the direction comes from the original model",
    }
    figure: dict[str, Any] = {"metavar": "FILE", "help": "also draw a figure: .png, .svg or .pdf"}
    seed: dict[str, Any] = {"type": int, "default": 0, "help": "seed of random draws (default 0)"}
    rest: dict[str, Any] = {"plugins": PLUGINS, **FILE}
    for command in (
        commands.add(
            project,
            "words project",
            model=MODEL,
            **direction,
            words=words | {"help": f"{LIST}; default: the words of the query's attribute sets"},
            exclude=words | {"help": f"words to leave out: {LIST}"},
            **whole,
            count=number_of,
            debias=debias,
            figure=figure,
            **rest,
        ),
        commands.add(
            report,
            "words report",
            model=MODEL,
            word={"required": True, "help": "the word"},
            **direction,
            neighbours={"type": int, "default": 100, "help": "how many neighbours (default 100)"},
            vocabulary=vocabulary
            | {
                "help": "number of words, from the first of the model, that can be neighbours (default 50000)"
            },
            debias=debias
            | {
                "nargs": "+",
                "default": [],
                "help": "also report the word after each of these debias methods",
            },
            figure=figure,
            **rest,
        ),
        commands.add(
            specific,
            "words specific",
            model=MODEL,
            seeds=words | {"required": True, "help": f"the list to learn from: {LIST}"},
            **every,
            c={"type": float, "default": 1.0, "help": "the linear SVM's C (default 1)"},
            folds={"type": int, "default": 10, "help": "folds of the cross-validation (default 10)"},
            seed=seed,
            **rest,
        ),
        commands.add(
            indirect,
            "words indirect",
            model=MODEL,
            **direction,
            ends={"required": True, "nargs": 2, "metavar": "WORD", "help": "two neutral words"},
            words=words,
            **whole,
            count=number_of,
            debias=debias,
            **rest,
        ),
        commands.add(
            compare,
            "words compare",
            models={"required": True, "nargs": "+", "type": Path, "metavar": "MODEL", "help": MODEL["help"]},
            **direction,
            words=words | {"required": True},
            figure=figure,
            plugins=PLUGINS,
        ),
        commands.add(
            groups,
            "words groups",
            model=MODEL,
            query={
                "required": True,
                "type": Path,
                "metavar": "FILE",
                "help": "a JSON file of a query, whose target sets are the groups, two or more",
            },
            neighbours={"type": int, "default": 10, "help": "how many neighbours (default 10)"},
            permutations={"type": int, "default": 1000, "help": "how many permutations (default 1000)"},
            random_draws={
                "type": int,
                "default": 50,
                "help": "how many times groups of random words are drawn (default 50; 0: no baseline)",
            },
            debias=debias,
            seed=seed,
            **rest,
        ),
    ):
        add_forms(command)
