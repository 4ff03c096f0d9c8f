"""The sections `debias`, `evaluation` and `quality`: debias methods, and evaluations beyond the results table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ...core.validation import Line, Strict, field
from .common import Distinct, FilePath, Key, Params, Text


class Debias(Strict):
    """A debias method under a key, with its words and parameters."""

    method: Text = field("the method's name (`biasgrid list debias`)")
    label: Line = field("what tables and figures print; left out: the method's own", None)
    words: dict[str, Any] = field(
        "its words by argument (docs/debias.md); the name of a word set, such as `debiaswe.definitional_pairs`, "
        "stands for what the set holds"
    )
    params: Params = field("parameters of the method", dict)
    models: Annotated[list[Key], Field(min_length=1), Distinct] = field(
        "keys of the models that it is fitted on; left out: all", None
    )
    criteria: Annotated[list[str], Field(min_length=1), Distinct] = field(
        "criteria on which models under it are measured; left out: the one that it stands under", None
    )
    published_as: dict[str, Key] = field(
        "model's key -> the debiased model whose published numbers it is compared with", dict
    )


class Quality(Strict):
    """Benchmarks on which all models are evaluated. A file is a path, `gensim:FILE` (gensim ships it), or
    `ARCHIVE:FILE` of `benchmarks`."""

    similarity: dict[Line, FilePath] = field(
        "name -> file of word pairs: word, word and rating, with tabs between", None
    )
    analogies: dict[Line, FilePath] = field(
        "name -> file of questions: four words per line, under lines `: section`", None
    )
    preprocessors: Annotated[list[Params], Field(min_length=1)] = field(
        "forms in which words are looked up, as in `words`", None
    )
    look_up: Literal["preprocessors", "gensim"] = field(
        "`gensim`: in any case of letters, for numbers that compare with gensim's; left out: `preprocessors`",
        None,
    )
