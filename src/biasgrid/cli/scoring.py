"""Sentences scored by a language model, here or elsewhere.

An API, or another machine, gets the texts of a study (--export), and its answers are read (--import).
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, join_names, unknown_name
from ..core.extras import has
from .arguments import Commands
from .running import CONFIGS, read_config

# The progress bar advances after this number of sentences.
BLOCK = 32


def score(args: argparse.Namespace) -> list[dict[str, Any]] | dict[str, Any] | str:
    """Score sentences with a language model. A score is the log-likelihood, or the pseudo-log-likelihood of a masked
    model. With --study, export the texts of a study for a model behind an API, or import its answers.

    biasgrid score --model smollm2-135m --sentences sentences.txt
    biasgrid score --model model.gguf --sentences -
    biasgrid score --model openai-community/gpt2 --sentences sentences.txt
    biasgrid score --study my-study.yaml --export > texts.jsonl
    biasgrid score --study my-study.yaml --import answers.jsonl
    """
    if args.study or args.export or args.answers:
        return _exchange(args)
    if not (args.model and args.sentences):
        needed = "--model and --sentences, or --study with --export or --import"
        raise BiasgridError(f"score: the following arguments are required: {needed}")
    return _score_sentences(args)


def _score_sentences(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the score of each sentence of a file."""
    from tqdm import tqdm

    from ..models.language.sentence import Sentence
    from ..models.load import load

    texts = _lines(args.sentences)
    model = load(str(args.model), kind="language_model")
    if has("torch"):
        import torch

        # Use all cores, because no score depends on the number of threads.
        torch.set_num_threads(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
    # Score one sentence before the progress bar appears, so that a model that cannot score is refused first.
    scores = model.score(texts[:1]).tolist()
    with tqdm(total=len(texts), initial=1, desc=model.name, unit="sentence", file=sys.stderr) as bar:
        for start in range(1, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            scores += model.score(block).tolist()
            bar.update(len(block))
    missing = [Sentence(text) for text, value in zip(texts, scores, strict=True) if value != value]
    why = (
        {sentence.text: reason for sentence, reason in model.why_unscored(missing).items()} if missing else {}
    )
    return [
        {"text": text, "score": value} if value == value else {"text": text, "score": None, "why": why[text]}
        for text, value in zip(texts, scores, strict=True)
    ]


def _exchange(args: argparse.Namespace) -> str | dict[str, Any]:
    """Return the texts of a study as lines of JSON, or put the answers in place and return how many there are."""
    from ..core.schema import dumps
    from ..models.language import answers
    from ..study.study import Study
    from ..study.texts import answer_files, requests

    if args.sentences:
        raise BiasgridError("score: give either --sentences or --study, not both")
    if not args.study or args.export == bool(args.answers):
        raise BiasgridError("score: --study needs one of --export and --import, and they need --study")
    study = Study.of(read_config(args.study), where := ", ".join(map(str, args.study)))
    files = answer_files(study)
    if not files:
        raise BiasgridError(
            f"{where}: no model has answers in a file; such a model has "
            "source: {type: answers, path: answers/my-model.jsonl}"
        )
    if args.model is None and len(files) > 1:
        raise BiasgridError(f"{where}: choose one of these models with --model: {join_names(files)}")
    if (name := args.model or next(iter(files))) not in files:
        raise BiasgridError(f"{where}: {unknown_name('model with a source of type answers', name, files)}")
    asked = requests(study, name)
    if args.answers:
        number = answers.put_in_place(args.answers, files[name], asked)
        return {"answers": str(files[name]), "texts": len(asked), "imported": number}
    known = answers.read(files[name]) if files[name].is_file() else {}
    new = [request for key, request in asked.items() if key not in known]
    if unseen := sum(map(answers.needs_pieces, new)):
        warnings.warn(
            f"{name}: {unseen} of {len(new)} texts need single tokens of a text (beside, hidden, or part, word, "
            "layer in options), which APIs do not give: score or encode them with the model itself",
            stacklevel=2,
        )
    return "\n".join(map(dumps, [answers.header(study.name, asked, len(new)), *new]))


def _lines(path: Path) -> list[str]:
    """Read the lines of a file, or of standard input (-), that are not blank."""
    content, where = (
        (sys.stdin.buffer.read(), "standard input") if str(path) == "-" else (path.read_bytes(), path)
    )
    try:
        lines = content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise BiasgridError(f"{where}: not UTF-8: byte {error.start}") from None
    if not (texts := [line for line in lines if line.strip()]):
        raise BiasgridError(f"{where}: has no sentence")
    return texts


def add(commands: Commands) -> None:
    command = commands.add(
        score,
        model={
            "help": "a language model: a shipped one's name (biasgrid list models) or a name on a hub, owner/name, "
            "fetched when it is missing; a model's folder, or a .gguf file. With --study: the key of a language "
            "model or encoder, if several have a source of type answers",
        },
        sentences={
            "type": Path,
            "help": "a UTF-8 text with a sentence on each line; blank lines are skipped; - reads standard input",
        },
        study=CONFIGS | {"help": f"export or import texts of this study: {CONFIGS['help']}"},
        export={
            "action": "store_true",
            "help": "print what the study asks the model, a JSON object on each line",
        },
    )
    command.add_argument(
        "--import",
        dest="answers",  # the option's own name is a word of Python
        type=Path,
        metavar="FILE",
        help="file of answers, with a JSON object of key and value on each line; all are checked before any is "
        "written to the file that the config names",
    )
