"""Specification of evaluations, checked: the keys that all evaluations share, and one for each evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, create_model

from ..core.errors import BiasgridError
from ..core.registry import is_pending
from ..core.validation import Strict, check_path, field, validate
from ..models.preprocessing import DEFAULT_FORMS
from ..models.words import WordOptions
from .evaluation import REGISTRY, evaluations


class File(str):
    """Path of a file that an evaluation reads."""


def _file(path: str, info: ValidationInfo) -> File:
    check_path(path)
    return File((info.context or {}).get(path, path))


def _tuple(values: Any) -> Any:
    return tuple(values) if isinstance(values, list) else values


def first_words(words: Any) -> Any:
    """Replace lists that begin with a word by the word."""
    if not isinstance(words, (list, tuple)):
        return words
    return tuple(word[0] if isinstance(word, (list, tuple)) and word else word for word in words)


def _pair(words: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(words)) != 2 or len(words) != 2:
        raise BiasgridError(f"{list(words)!r:.80} is not a pair of two different words, such as [she, he]")
    return words


# Types of fields. A list may be given as a tuple, and a word as a list that begins with the word.
List = BeforeValidator(_tuple)
FilePath = Annotated[str, Field(min_length=1), AfterValidator(_file)]
Words = Annotated[tuple[str, ...], BeforeValidator(first_words)]
SomeWords = Annotated[Words, Field(min_length=1)]
Pair = Annotated[tuple[str, ...], List, AfterValidator(_pair)]
Pairs = Annotated[tuple[Pair, ...], List, Field(min_length=1)]


def _preprocessors(forms: Any) -> Any:
    try:
        return WordOptions(preprocessors=forms).preprocessors
    except BiasgridError as error:
        raise BiasgridError(str(error).removeprefix("preprocessors: ")) from None


class Spec(Strict):
    """Keys that all evaluations share; `of` adds the keys of each evaluation."""

    vocabulary: int = field(
        "hidden bias, questions and displacement look at so many rows of the model, the first ones",
        50_000,
        "rows",
        ge=1,
    )
    preprocessors: Annotated[Any, AfterValidator(_preprocessors)] = field(
        "forms in which words are looked up, as for metrics", DEFAULT_FORMS
    )
    look_up: Literal["preprocessors", "gensim"] = field(
        "how the words of similarity and analogies are looked up: as all others, or in any case, whichever word "
        "comes first in the model, for numbers that compare with gensim's",
        "preprocessors",
    )
    items: bool = field("whether the record keeps the outcome of every pair and question, too", False)
    sorted: bool = field(
        "whether the model's words are sorted by falling frequency: if not, analogies and questions are answered "
        "with any of them. A study says so of its model",
        True,
    )

    @classmethod
    def of(cls, values: Mapping[str, Any], files: Mapping[str, str] | None = None) -> Spec:
        """Build the specification from a mapping, such as `evaluation` of a criterion in a config.

        Parameters
        ----------
        values
            Keys of this class and of the evaluations (`evaluation.REGISTRY`), all optional. Each word of a list may
            be a list that begins with the word (as in debiaswe.professions). A file "gensim:NAME" is one that
            gensim ships: wordsim353.tsv, simlex999.txt, questions-words.txt.
        files
            Locations of files, by their paths in `values`; other files are at these paths.

        Raises
        ------
        BiasgridError
            For an invalid key; the message gives the allowed values.
        """
        model = _whole(tuple(REGISTRY))
        if is_pending():
            values = {key: value for key, value in values.items() if key in model.model_fields}
        return validate(model, values, context=files)

    @property
    def files(self) -> list[str]:
        """Return the files that the evaluations read, except the files that gensim ships."""
        return [path for path in dict.fromkeys(map(str, files_of(self))) if not path.startswith("gensim:")]


def files_of(values: Any) -> Iterator[File]:
    """Yield the files that are named in a spec or in a part of it."""
    if isinstance(values, File):
        yield values
    elif isinstance(values, BaseModel):
        yield from files_of(dict(values))
    elif isinstance(values, Mapping):
        yield from files_of(list(values.values()))
    elif isinstance(values, Sequence) and not isinstance(values, str):
        for value in values:
            yield from files_of(value)


@lru_cache(maxsize=4)
def _whole(names: tuple[str, ...]) -> type[Spec]:
    """Build the model with a key for each of the registered evaluations; plugins may add to them."""
    keys: dict[str, Any] = {}
    for e in evaluations():
        if e.name in Spec.model_fields:
            raise BiasgridError(f"{REGISTRY.file(e.name)}: {e.name!r} is a key of all evaluations; rename it")
        if e.spec is not None:
            keys[e.name] = (e.spec | None if e.default is None else e.spec, field(e.meaning, e.default))
    return create_model("Spec", __base__=Spec, **keys)
