"""What to evaluate, checked: the keys that all evaluations share, and one for each evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, create_model

from ..errors import BiasgridError
from ..preprocessing import DEFAULT_FORMS
from ..registry import is_pending
from ..validation import Strict, check_path, field, validate
from ..words import WordOptions
from .evaluation import REGISTRY, evaluations


class File(str):
    """The path of a file that an evaluation reads."""


def _file(path: str, info: ValidationInfo) -> File:
    check_path(path)
    return File((info.context or {}).get(path, path))


def _tuple(values: Any) -> Any:
    return tuple(values) if isinstance(values, list) else values


def first_words(words: Any) -> Any:
    """Of lists that begin with a word, the word."""
    if not isinstance(words, (list, tuple)):
        return words
    return tuple(word[0] if isinstance(word, (list, tuple)) and word else word for word in words)


def _pair(words: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(words)) != 2 or len(words) != 2:
        raise BiasgridError(f"{list(words)!r:.80} is not a pair of two different words, such as [she, he]")
    return words


# types of fields; a list may be a tuple
List = BeforeValidator(_tuple)
FilePath = Annotated[str, Field(min_length=1), AfterValidator(_file)]
Words = Annotated[tuple[str, ...], BeforeValidator(first_words)]  # or lists that begin with the word
SomeWords = Annotated[Words, Field(min_length=1)]
Pair = Annotated[tuple[str, ...], List, AfterValidator(_pair)]
Pairs = Annotated[tuple[Pair, ...], List, Field(min_length=1)]


def _preprocessors(forms: Any) -> Any:
    try:
        return WordOptions(preprocessors=forms).preprocessors
    except BiasgridError as error:
        raise BiasgridError(str(error).removeprefix("preprocessors: ")) from None


class Spec(Strict):
    """What all evaluations share; `of` makes it with the keys of each."""

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
        """What to evaluate, from a mapping such as a criterion has it under `evaluation` in a config.

        Parameters
        ----------
        values
            The keys of this class and those of the evaluations (`evaluation.REGISTRY`), all of which may be left out.
            A list of words may be one of lists that begin with the word (debiaswe.professions is). A file
            "gensim:NAME" is one that gensim ships: wordsim353.tsv, simlex999.txt, questions-words.txt.
        files
            Where files lie, by their paths in `values`; others lie at these paths.

        Raises
        ------
        BiasgridError
            The key that is wrong, and what is allowed.
        """
        model = _whole(tuple(REGISTRY))
        if is_pending():
            values = {key: value for key, value in values.items() if key in model.model_fields}
        return validate(model, values, context=files)

    @property
    def files(self) -> list[str]:
        """The files that the evaluations read, less those that gensim ships."""
        return [path for path in dict.fromkeys(map(str, files_of(self))) if not path.startswith("gensim:")]


def files_of(values: Any) -> Iterator[File]:
    """The files that are named in a spec or in a part of it."""
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
    """The model with a key for each of the registered evaluations; plugins may add to them."""
    keys: dict[str, Any] = {}
    for e in evaluations():
        if e.name in Spec.model_fields:
            raise BiasgridError(f"{REGISTRY.file(e.name)}: {e.name!r} is a key of all evaluations; rename it")
        if e.spec is not None:
            keys[e.name] = (e.spec | None if e.default is None else e.spec, field(e.meaning, e.default))
    return create_model("Spec", __base__=Spec, **keys)
