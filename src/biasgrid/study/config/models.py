"""The sections `models`, `benchmarks`, `corpora` and `encoders`: fetched files and their sources."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, create_model, model_validator

from ...core.errors import BiasgridError, quote, unknown_name
from ...core.registry import is_pending
from ...core.validation import Line, Strict, check_path, field, validate
from ...measure.options import Whole
from ...models import kinds, readers, sources
from ...models.algorithms import REGISTRY as ALGORITHMS
from ...models.frequencies import COUNTS, RANK, WORDFREQ
from ...models.language.formats import ANSWERS, SENTENCE_TRANSFORMERS
from ...models.readers.conversion import READING
from .common import Key, Language, Params, Prose, Text
from .encoded import ENCODED, UNSAID, Encoded
from .metrics import Words

# Types of sources that are made here from a corpus: trained vectors, and the corpus in another order.
TRAINED, SHUFFLED = "trained", "shuffled"


class Trained(Strict):
    """A model that is trained here, on a corpus of the study."""

    type: Literal["trained"] = field("trained here")
    corpus: Key = field("the key of the corpus under `corpora`, or of a model of kind `corpus`")
    algorithm: Key = field(
        "the training algorithm. Those of the plugin `training`: `word2vec`, `fasttext`, `glove` and `ppmi` train "
        "vectors, and `bert` a masked language model (kind: language_model)"
    )
    start: Key = field(
        "the key under `encoders` of the weights that the training starts from; `bert` needs them, and nothing else "
        "has any",
        None,
    )
    params: Params = field(
        "its parameters, and the seed (plugins/training/README.md, docs/language_models.md)", dict
    )

    @model_validator(mode="after")
    def _check_params(self):
        if self.algorithm not in ALGORITHMS:
            # A plugin that is not loaded yet may have the algorithm.
            if is_pending():
                return self
            choices = sorted(ALGORITHMS) or ["those of a plugin, such as plugins: [training]"]
            raise BiasgridError(f"algorithm: {ALGORITHMS.unknown(self.algorithm, choices)}")
        algorithm = ALGORITHMS[self.algorithm]
        try:
            algorithm.check(self.params)
        except BiasgridError as error:
            raise BiasgridError(f"params: {error}") from None
        if (self.start is None) == algorithm.from_weights:
            problem = "is missing" if self.start is None else "is not allowed"
            raise BiasgridError(f"key 'start' {problem} (algorithm: {self.algorithm})")
        return self


class ShuffledCorpus(Strict):
    """Another corpus of the study with its tokens in a random order: every word is as frequent as before, and
    words co-occur only by chance. It is fetched with that corpus, and read and counted in the same way."""

    type: Literal["shuffled"] = field("a corpus of the study, shuffled")
    corpus: Key = field("the key of the model of kind `corpus` whose tokens are shuffled")
    seed: Whole = field("seed of the order; another one is another shuffled corpus", 1, ge=0)


MADE_HERE: dict[str, type[Strict]] = {TRAINED: Trained, SHUFFLED: ShuffledCorpus, ENCODED: Encoded}
# The source of a model in memory.
IN_MEMORY = {"type": "memory"}


def _source(values: Any) -> Any:
    source_type = values.get("type") if isinstance(values, dict) else None
    if isinstance(source_type, str) and source_type in MADE_HERE:
        return validate(MADE_HERE[source_type], values)
    return _check_source(values, [*sources.REGISTRY, *MADE_HERE])


def _archive(values: Any) -> Any:
    return _check_source(values, sources.REGISTRY)


def _check_source(values: Any, types: Iterable[str]) -> Any:
    """Return a source after a check of its type and keys."""
    if not isinstance(values, dict):
        raise BiasgridError(f"{quote(values)} is not a mapping")
    if "type" not in values:
        raise BiasgridError("key 'type' is missing")
    source_type = values["type"]
    if not isinstance(source_type, str) or source_type not in sources.REGISTRY:
        if is_pending() and isinstance(source_type, str):
            return values
        problem = sources.REGISTRY.of_plugin(source_type) or unknown_name("value", source_type, types)
        raise BiasgridError(f"type: {problem}")
    try:
        sources.check(values)
    except BiasgridError as error:
        raise BiasgridError(str(error).removeprefix("source: ")) from None
    if "path" in values:
        check_path(values["path"])
    return values


def _kind(name: str) -> str:
    if name not in kinds.REGISTRY and not is_pending():
        raise BiasgridError(unknown_name("kind of model", name, kinds.REGISTRY, "biasgrid list kinds"))
    return name


Source = Annotated[Any, PlainValidator(_source)]
ArchiveSource = Annotated[Any, PlainValidator(_archive)]


def _megabytes() -> Any:
    return field(
        "size of the download, which a run names before it begins; no result depends on it", None, "MB", ge=0
    )


class Model(Strict):
    """An embedding model."""

    label: Line = field("what tables and figures print; left out: the model's key", None)
    source: Source = field(
        "where it is from: a mapping with `type` (`biasgrid list sources`, `trained`, `shuffled` or `encoded`) and "
        "the keys of that type. `path: FILE` in its place is short for `source: {type: file, path: FILE}`"
    )
    download_mb: Whole = _megabytes()
    kind: Annotated[str, AfterValidator(_kind)] = field(
        "what is known of its words (`biasgrid list kinds`), such as `corpus`; left out: vectors", None
    )
    format: Text = field(
        "the file's format (`biasgrid list formats`); left out: found by looking into the file; of a corpus `text`",
        None,
    )
    vocab_prefix: str = field("what stands before every word of its vocabulary, such as `/c/en/`", "")
    sorted: bool = field("whether its words are sorted by falling frequency; left out: not known", None)
    licence: Line = field(
        "the licence of the vectors; of an encoded model its encoder's, if left out", UNSAID
    )
    note: Prose = field("what else to know about it", "")
    published_as: Key = field(
        "the model whose published numbers it is compared with; left out: its own key", None
    )
    language: Language = field(
        "language of its words, such as `fr`: it is not measured on criteria of another language", None
    )
    words: Words = field("how words are looked up in it", None)

    @property
    def of_kind(self) -> kinds.Kind:
        """Return the model's kind."""
        return kinds.REGISTRY[self.kind or kinds.VECTORS]

    @property
    def is_made_here(self) -> bool:
        """Return whether the model is made here from other fetched files."""
        return isinstance(self.source, (*MADE_HERE.values(),))

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is created at run time from the registered kinds, so pickling cannot find it in a module.
        return _blank, (isinstance(self, Pending),), self.__getstate__()

    @model_validator(mode="after")
    def _check_kind(self):
        # A plugin that is not loaded yet may have the kind.
        if (kind := kinds.REGISTRY.get(self.kind or kinds.VECTORS)) is None:
            return self
        formats = readers.REGISTRY if kind.formats is None else kind.formats
        if self.format not in (None, *formats, *kind.former_formats) and not is_pending():
            raise BiasgridError(f"format: {readers.REGISTRY.unknown(self.format, formats)}")
        for other_kind in kinds.REGISTRY.values():
            for key in set(other_kind.keys) - set(kind.keys):
                if getattr(self, key, None) is not None:
                    raise BiasgridError(
                        f"{key}: is for models of kind {other_kind.name}, and this model is {kind.name}"
                    )
        algorithm = ALGORITHMS.get(self.source.algorithm) if isinstance(self.source, Trained) else None
        if algorithm and algorithm.kind != kind.name:
            raise BiasgridError(f"source: {algorithm.name} trains {algorithm.kind}, and no {kind.name}")
        if isinstance(self.source, ShuffledCorpus) and not kind.text:
            raise BiasgridError(f"source: only a corpus can be shuffled (kind: corpus), not {kind.name}")
        if isinstance(self.source, dict) and self.source["type"] in sources.PRETRAINED:
            if not kind.scores:
                raise BiasgridError(
                    f"source: type {self.source['type']} is for encoders and language models (kind: language_model), "
                    f"not for {kind.name}"
                )
            if self.source["type"] == SENTENCE_TRANSFORMERS:
                raise BiasgridError("source: type sentence-transformers is for encoders, which score no text")
        if isinstance(self.source, Encoded) and not kind.encoded:
            raise BiasgridError(f"source: only vectors of words can be encoded, not {kind.name}")
        is_elsewhere = isinstance(self.source, dict) and self.source.get("type") == ANSWERS
        if is_elsewhere and (self.format or not kind.scores):
            raise BiasgridError(
                f"source: {ANSWERS} are a language model's (kind: language_model, and no format), or an encoder's"
            )
        if not kind.fetched and not isinstance(self.source, Encoded):
            raise BiasgridError(f"kind: {kind.name} are made by an encoder: their source has type {ENCODED}")
        return self

    @model_validator(mode="after")
    def _check_file_keys(self):
        of_files = [key for key in ("format", "vocab_prefix", *READING) if getattr(self, key, None)]
        if isinstance(self.source, (Trained, Encoded)) and of_files:
            key = of_files[0]
            raise BiasgridError(f"{key}: is for files; a model that is {self.source.type} here has none")
        if isinstance(self.source, Encoded) and self.sorted is not None:
            raise BiasgridError("sorted: the words of an encoded model are in no order; leave it out")
        if isinstance(self.source, ShuffledCorpus):
            keys = ("format", *(key for kind in kinds.REGISTRY.values() if kind.text for key in kind.keys))
            for key in keys:
                if getattr(self, key, None) is not None:
                    raise BiasgridError(
                        f"{key}: a shuffled corpus takes it from {self.source.corpus}; leave it out"
                    )
        return self


class Archive(Strict):
    """An archive of benchmarks, a corpus, or an encoder's files."""

    source: ArchiveSource = field(
        "where it is from: as of a model, but for `trained`, `shuffled` and `encoded`"
    )
    download_mb: Whole = _megabytes()
    licence: Line = field("its licence", "not stated")


class Pending(Model):
    """A model of a plugin's kind while the plugin is not loaded; it accepts all keys."""

    model_config = ConfigDict(extra="allow")


def model_of_kinds() -> type[Model]:
    """Return `Model` with the keys of the sections of all kinds (`Kind.section`), to which plugins may add."""
    return _with_sections(tuple(dict.fromkeys(kind.section for kind in kinds.REGISTRY.values())))


def _blank(pending: bool) -> Model:
    """Return an empty model for unpickling."""
    model = Pending if pending else model_of_kinds()
    return model.__new__(model)


@lru_cache(maxsize=4)
def _with_sections(sections: tuple[type[Strict], ...]) -> type[Model]:
    bases: tuple[Any, ...] = *(section for section in sections if section is not Strict), Model
    return create_model("Model", __base__=bases, __doc__=Model.__doc__)


def _model(values: Any) -> Any:
    kind = values.get("kind") if isinstance(values, dict) else None
    # The kind may be one of a plugin that is loaded later, or whose results are read without it.
    is_plugins = isinstance(kind, str) and (
        kinds.REGISTRY.is_noted(kind) or (kind not in kinds.REGISTRY and is_pending())
    )
    return validate(Pending if is_plugins else model_of_kinds(), values)


Models = Annotated[dict[Key, Annotated[Model, PlainValidator(_model)]], Field(min_length=1)]
Archives = dict[Key, Archive]


def is_text(model: Model) -> bool:
    """Return whether a model is a text (`Kind.text`)."""
    kind = kinds.REGISTRY.get(model.kind or kinds.VECTORS)
    return kind is not None and kind.text


def frequency_source_of(model: Model, study_frequencies: str) -> str | None:
    """Return the source of a model's frequencies, from its entry in a checked config and the study's `frequencies`.

    Files are not read, so the model may have counts even if the result differs. None means that frequencies
    are not known.
    """
    reader, kind = readers.REGISTRY.get(model.format), model.of_kind
    if kind.scores or model.source == IN_MEMORY:
        return None
    if isinstance(model.source, Trained) or kind.counts:
        return COUNTS
    if reader and reader.counts:
        return COUNTS
    return WORDFREQ if study_frequencies == WORDFREQ else RANK if model.sorted else None
