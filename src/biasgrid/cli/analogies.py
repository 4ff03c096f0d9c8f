"""Analogies on one model: `biasgrid words analogy`."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, join_names, quote
from .arguments import FILE, MODEL, Commands, open_model


def analogy(args: argparse.Namespace) -> dict[str, Any]:
    """Solve analogies: a is to b as c is to which word? With --method generated, find word pairs that differ in the
    same way as a and b.

    biasgrid words analogy --model vectors.bin --pairs he:she man:woman \\
        --word doctor
    biasgrid words analogy --model vectors.bin --method 3cosavg --source he \\
        --target she woman --word doctor
    biasgrid words analogy --model vectors.bin --pairs she:he --method generated
    """
    from ..debias.transform import Transform
    from ..evaluation.analogy_answers import GENERATED, answers

    pairs = [pair.split(":") for pair in args.pairs]
    for text, pair in zip(args.pairs, pairs, strict=True):
        if len(pair) != 2 or not all(pair) or pair[0] == pair[1]:
            raise BiasgridError(f"--pairs {quote(text)}: expected two different words such as he:she")
    if (args.method == GENERATED) == bool(args.word):
        raise BiasgridError(f"--word: every method needs it except {GENERATED}, which finds pairs of words")
    if args.best < 1:
        raise BiasgridError(f"--best {args.best}: must be 1 or more")
    if args.vocabulary < 0:
        raise BiasgridError(f"--vocabulary {args.vocabulary}: must be 0 (all words) or more")
    model = open_model(args)
    record = {"model": model.name}
    if args.debias:
        transform = Transform.load(args.debias)
        model = model.under(transform)
        record["debias"] = transform.method
    sides = [*args.source, *args.target]
    words = dict.fromkeys([*args.word, *sides, *(word for pair in pairs for word in pair)])
    if lost := [word for word in words if model.vocab_prefix + word not in model]:
        warnings.warn(f"{model.name} lacks {join_names(map(quote, lost))}", stacklevel=1)
    questions = answers(
        model,
        pairs,
        args.word,
        source=args.source,
        target=args.target,
        methods=[args.method],
        excluded=[not args.keep_question_words],
        best=args.best,
        threshold=args.threshold,
        vocabulary=args.vocabulary or None,
        seed=args.seed,
    )
    return record | {"questions": questions}


def add(commands: Commands) -> None:
    """Add the command to those about single words."""
    commands.add(
        analogy,
        "words analogy",
        model=MODEL,
        pairs={"nargs": "+", "default": [], "metavar": "A:B", "help": "such as he:she man:woman"},
        source={
            "nargs": "+",
            "default": [],
            "metavar": "A",
            "help": "words a, in place of pairs, for 3cosavg and lrcos",
        },
        target={
            "nargs": "+",
            "default": [],
            "metavar": "B",
            "help": "words b, with --source; their number may differ",
        },
        word={
            "nargs": "+",
            "default": [],
            "metavar": "C",
            "help": "the words c, such as doctor; they should be neutral",
        },
        method={
            "default": "3cosadd",
            "help": "3cosadd (default), pair_distance, 3cosavg, lrcos, difference_matching, or generated: pairs of "
            "words that differ as a and b do, without a word c",
        },
        threshold={
            "type": float,
            "metavar": "DISTANCE",
            "help": "largest distance between the unit vectors of answer and c, or of the two words of a generated "
            "pair (default for generated pairs: 1, which is 60 degrees; else no limit)",
        },
        keep_question_words={
            "action": "store_true",
            "help": "allow the question's own words as answers",
        },
        best={"type": int, "default": 10, "help": "number of answers (default 10)"},
        vocabulary={
            "type": int,
            "default": 50_000,
            "help": "number of words, from the first of the model, that can be answers (default 50000; 0: all)",
        },
        seed={"type": int, "default": 0, "help": "seed of the words that lrcos draws (default 0)"},
        debias={
            "type": Path,
            "metavar": "TRANSFORM.npz",
            "help": "use the model after this debiasing",
        },
        **FILE,
    )
