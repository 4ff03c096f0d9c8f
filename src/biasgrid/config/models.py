"""`models`, `benchmarks` and `corpora`: what is fetched, and from where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from ..embeddings import kinds, readers, sources
from ..embeddings.corpus.formats import DEFAULT
from ..embeddings.frequencies import COUNTS, RANK, WORDFREQ
from ..embeddings.training import check_parameters
from ..errors import BiasgridError, shown, unknown
from ..options import Whole
from ..validation import Strict, checked, field
from .common import Key, Language, Params, Text
from .metrics import Words

TRAINED = "trained"  # the type of source of a model that is trained here


class Trained(Strict):
    """A model that is trained here, on a corpus of the study."""

    type: Literal["trained"] = field("trained here")
    corpus: Key = field("the key of the corpus under `corpora`, or of a model of kind `corpus`")
    algorithm: Literal["word2vec", "fasttext", "glove", "ppmi"] = field("what trains it")
    params: Params = field("its parameters, and the seed (docs/text8.md)", dict)

    @model_validator(mode="after")
    def _trainable(self):
        try:
            check_parameters(self.algorithm, self.params)
        except BiasgridError as error:
            raise BiasgridError(f"params: {error}") from None
        return self


def _source(values: Any) -> Any:
    if isinstance(values, dict) and values.get("type") == TRAINED:
        return checked(Trained, values)
    return _registered(values, [*sources.REGISTRY, TRAINED])


def _archive(values: Any) -> Any:
    return _registered(values, sources.REGISTRY)


def _registered(values: Any, types: Iterable[str]) -> Any:
    """A source of a registered type, whose keys are right."""
    if not isinstance(values, dict):
        raise BiasgridError(f"{shown(values)} is not a mapping")
    if "type" not in values:
        raise BiasgridError("key 'type' is missing")
    given = values["type"]
    if not isinstance(given, str) or given not in sources.REGISTRY:
        raise BiasgridError(f"type: {unknown('value', given, types)}")
    try:
        sources.check(values)
    except BiasgridError as error:
        raise BiasgridError(str(error).removeprefix("source: ")) from None
    return values


def _kind(name: str) -> str:
    if name not in kinds.REGISTRY:
        raise BiasgridError(unknown("kind of model", name, kinds.REGISTRY, "biasgrid list kinds"))
    return name


Source = Annotated[Any, PlainValidator(_source)]
ArchiveSource = Annotated[Any, PlainValidator(_archive)]


def _megabytes() -> Any:
    return field(
        "size of the download, which a run names before it begins; no result depends on it", None, "MB", ge=0
    )


class Model(Strict):
    """An embedding model."""

    label: Text = field("what tables and figures print")
    source: Source = field(
        "where it is from: a mapping with `type` (`biasgrid list sources`, or `trained`) and the keys of that type"
    )
    download_mb: Whole = _megabytes()
    kind: Annotated[str, AfterValidator(_kind)] = field(
        "what is known of its words (`biasgrid list kinds`), such as `corpus`; left out: vectors", None
    )
    format: Text = field(
        "the file's format (`biasgrid list formats`); left out: found by looking into the file; of a corpus `text`",
        None,
    )
    window: Whole = field(
        "of a corpus: count what stands together in windows of so many words, one after the other; left out: in "
        "sentences",
        None,
        "words",
        ge=2,
    )
    vocab_prefix: str = field("what stands before every word of its vocabulary, such as `/c/en/`", "")
    sorted: bool = field("whether its words are sorted by falling frequency; left out: not known", None)
    licence: str = field("the licence of the vectors", "not stated")
    note: str = field("what else to know about it", "")
    published_as: Key = field(
        "the model whose published numbers it is compared with; left out: its own key", None
    )
    language: Language = field(
        "language of its words, such as `fr`: it is not measured on criteria of another language", None
    )
    words: Words = field("how words are looked up in it", None)

    @model_validator(mode="after")
    def _of_its_kind(self):
        kind = kinds.REGISTRY[self.kind or kinds.VECTORS]
        formats = readers.REGISTRY if kind.formats is None else kind.formats
        if self.format is not None and self.format not in formats:
            raise BiasgridError(f"format: {unknown('format', self.format, formats, 'biasgrid list formats')}")
        for other in kinds.REGISTRY.values():
            for key in set(other.keys) - set(kind.keys):
                if getattr(self, key) is not None:
                    raise BiasgridError(
                        f"{key}: is for models of kind {other.name}, and this one is {kind.name}"
                    )
        if isinstance(self.source, Trained) and kind.name != kinds.VECTORS:
            raise BiasgridError(f"source: what is trained here are vectors, and no {kind.name}")
        return self

    @model_validator(mode="after")
    def _of_a_file(self):
        if isinstance(self.source, Trained) and (self.format or self.vocab_prefix):
            given = "format" if self.format else "vocab_prefix"
            raise BiasgridError(f"{given}: is for files; a model that is trained here has none")
        return self


class Archive(Strict):
    """An archive of benchmarks, or a corpus."""

    source: ArchiveSource = field("where it is from: as of a model, but for `trained`")
    download_mb: Whole = _megabytes()
    licence: str = field("its licence", "not stated")


Models = Annotated[dict[Key, Model], Field(min_length=1)]
Archives = dict[Key, Archive]


def frequency_source_of(model: Mapping[str, Any], declared: str) -> str | None:
    """What a model's frequencies are known by, of what its entry in a checked config, and its study's `frequencies`,
    say: no file is looked into, so that a model may turn out to have counts. None: they are not known."""
    reader = readers.REGISTRY.get(model.get("format"))
    if model["source"]["type"] == TRAINED or kinds.REGISTRY[model.get("kind", kinds.VECTORS)].counts:
        return COUNTS
    if reader and reader.counts:
        return COUNTS
    return WORDFREQ if declared == WORDFREQ else RANK if model.get("sorted") else None


def source_of(model: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A model's source in a checked config; of one that is trained here it says all of its corpus: name, source, and
    how its sentences are read."""
    source = model["source"]
    if source["type"] != TRAINED:
        return source
    name = source["corpus"]
    counted = config["models"].get(name)
    corpus = {"name": name, "source": (counted or config["corpora"][name])["source"]}
    # a running text is trained on as any corpus is, and others by their sentences
    if counted and not ("window" in counted and counted.get("format") == "tokens"):
        corpus["format"] = counted.get("format", DEFAULT)
    return source | {"corpus": corpus}
