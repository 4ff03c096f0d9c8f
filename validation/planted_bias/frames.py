"""Sentences in which a word other than the occupation determines the pronoun: a task in which a model can err."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from biasgrid.core.errors import BiasgridError

from .corpus import check, read_sentences

CUE = re.compile(r"\{(\w+)\|(\w+)\}")


@dataclass(frozen=True)
class Frames:
    """Pairs of sentences in which a word other than the occupation determines the pronoun.

    Parameters
    ----------
    texts
        The sentence with a male pronoun and the sentence with a female pronoun of each frame, with OCCUPATION and
        [MASK].
    pronouns
        The (male, female) pronoun of each frame.
    """

    texts: tuple[tuple[str, str], ...]
    pronouns: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> Frames:
        """Read a file of data/templates. Raises BiasgridError, which names the file and the wrong frame."""
        texts, pronouns = read_sentences(path, "frames")
        for text in texts:
            check(path, text)
            if not CUE.search(text):
                raise BiasgridError(f"{path}: {text!r}: expected a cue such as {{man|woman}}")
        pairs = ((CUE.sub(r"\1", text), CUE.sub(r"\2", text)) for text in texts)
        return cls(tuple(pairs), tuple(pronouns))
