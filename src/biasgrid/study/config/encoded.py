"""Sources of `type: encoded`: vectors that an encoder computes for the words of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import model_validator

from ...core.validation import Strict, field
from ...measure.options import Whole
from ...models.language.templates import Templates
from ...queries.word_set import WordSet
from .common import Key, Text
from .names import check_names

ENCODED = "encoded"
UNSAID = "not stated"  # the default licence


class Encoded(Strict):
    """The words of the study in the contexts of templates, as vectors from an encoder."""

    type: Literal["encoded"] = field("the study's words, encoded")
    encoder: Key = field("the key of the encoder under `encoders`")
    templates: list[Text] | Text = field(
        "the sentences that each word is read in: a list of texts in which `{}` stands for the word, or the name of "
        "a file in data/templates; left out: the words as they are, such as those that are sentences",
        None,
    )
    pool: Literal["word", "sentence", "first", "last"] = field(
        "what becomes the word's vector, as a mean over the templates: `word`, the mean of the states of the word's "
        "own pieces; `sentence`, that of all pieces of the sentence; `first`, `last`: the state of one of them. An "
        "encoder of sentence-transformers, or one whose answers are given, has `sentence`",
        "word",
    )
    layer: Whole = field(
        "the layer whose states are taken: 0 for the embeddings of pieces, 1 for the first layer; negative from the "
        "end, -1 for the last",
        -1,
    )
    frequent: Whole = field(
        "so many of the most frequent words of the model's language (package wordfreq, by default English) beside "
        "those of the study: random groups and control words are drawn from them",
        0,
        "words",
        ge=0,
        le=100_000,
    )
    device: Literal["auto", "cpu", "cuda"] = field(
        "where the encoder computes; left out, or `auto`: on a GPU where torch sees one", None
    )
    dtype: Literal["float32", "bfloat16", "float16"] = field(
        "number format in which a transformers encoder computes (default `float32`); `bfloat16` "
        "changes conclusions",
        None,
    )
    fast: bool = field(
        "whether a vector of an encoder of transformers may depend, in its last digits, on those that are made "
        "beside it, which is cheaper; left out: it may not",
        None,
    )

    random_weights: Whole = field(
        "the seed of weights that are drawn as before a training, in place of the encoder's own: a control of the "
        "same architecture and pieces, for an encoder of transformers; left out: its own",
        None,
        ge=0,
    )

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the encoder that are set."""
        names = ("device", "dtype", "fast", "random_weights")
        options = {name: getattr(self, name) for name in names}
        return {name: value for name, value in options.items() if value is not None}

    @model_validator(mode="after")
    def _check_templates(self):
        Templates.of(self.templates)
        return self


def in_sentences(
    targets: Mapping[str, Sequence[str]], attributes: Mapping[str, Sequence[str]], templates: Any, where: str
) -> list[dict[str, WordSet | Sequence[str]]]:
    """Return the sets of a query's two sides with sentences in place of words, word by word in each template.

    Raises
    ------
    BiasgridError
        One line that begins with `where`.
    """
    if isinstance(templates, Mapping):
        check_names("set", templates, [*targets, *attributes], where)
        of_set = {name: Templates.of(texts, f"{where}: {name}") for name, texts in templates.items()}
    else:
        of_set = dict.fromkeys([*targets, *attributes], Templates.of(templates, where))

    def fill_templates(name: str, words: Sequence[str]) -> WordSet | Sequence[str]:
        if name not in of_set:
            return words
        # A sentence that two words share belongs to the first one.
        of_sentence = {item.text: word for word in reversed(words) for item in of_set[name].placed(word)}
        sentences = dict.fromkeys(item.text for word in words for item in of_set[name].placed(word))
        return WordSet(name, tuple(sentences), tuple(map(of_sentence.__getitem__, sentences)))

    return [
        {name: fill_templates(name, words) for name, words in side.items()} for side in (targets, attributes)
    ]
