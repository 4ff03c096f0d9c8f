"""Command that scores sentences with a language model."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from ..errors import BiasgridError
from ..extras import has
from .arguments import Commands

# The progress bar advances after this number of sentences.
BLOCK = 32


def score(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Score sentences with a language model. A score is the log-likelihood, or the pseudo-log-likelihood of a masked
    model.

    biasgrid score --model smollm2-135m --sentences sentences.txt
    biasgrid score --model model.gguf --sentences -
    biasgrid score --model openai-community/gpt2 --sentences sentences.txt
    """
    from tqdm import tqdm

    from ..api.load import load
    from ..embeddings.language.sentence import Sentence

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
    commands.add(
        score,
        model={
            "required": True,
            "type": Path,
            "help": "a language model: a shipped one's name (biasgrid list models) or a name on a hub, owner/name, "
            "fetched when it is missing; a model's folder, or a .gguf file",
        },
        sentences={
            "required": True,
            "type": Path,
            "help": "a UTF-8 text with a sentence on each line; blank lines are skipped; - reads standard input",
        },
    )
