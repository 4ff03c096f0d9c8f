"""Language models: models that give the probability of a text."""

from __future__ import annotations

from typing import Literal

from ...core.validation import Strict, field
from ..language.formats import FORMATS, FORMER
from ..language.model import KIND, LanguageModel
from .kind import Kind


class Section(Strict):
    """The keys that only a language model has."""

    device: Literal["auto", "cpu", "cuda"] = field(
        "where it computes; left out, or `auto`: on a GPU where torch sees one", None
    )
    dtype: Literal["float32", "bfloat16", "float16"] = field(
        "number format in which it computes (default `float32`); `bfloat16` changes conclusions", None
    )
    fast: bool = field(
        "whether a score may depend, in its last digits, on what is scored beside it, which is cheaper; left out: "
        "it may not",
        None,
    )


KINDS = (
    Kind(
        KIND,
        "Probabilities of texts, and of words in them. From a causal or masked language model, or measured scores.",
        open=LanguageModel.open,
        make="biasgrid.models.language.building:make_language_model",
        load="biasgrid.models.language.loading:load",
        examine="biasgrid.models.language.building:examine",
        formats=FORMATS,
        former_formats=tuple(FORMER),
        section=Section,
        complete=True,
        scores=True,
        first_metrics={"lpbs": {}, "lpbs_es": {}},
        called="language model",
    ),
)
