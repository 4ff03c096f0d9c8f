"""The sections `metrics` and `words`: the measurements, and how words are looked up."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ... import metrics
from ...core.validation import Line, Strict, field
from ...measure.options import Number
from ...models.kinds import Kind
from ...models.preprocessing import default_forms
from ...models.words import WordOptions
from .common import Key, Params, Text
from .inference import OfMetric


class Words(Strict):
    """Options of the look-up of words in a model. The criterion's options override the study's, the metric's
    override these, and the model's override all."""

    preprocessors: list[Params] = field(
        "forms of a word that are looked up, in this order, each a mapping of `unicode` (such as `NFC`), `lowercase` "
        "(with `language: tr` as in Turkish), `uppercase`, `titlecase`, `without` (a list of quotation marks or "
        "articles), `strip_accents` and `parts` (`raw` or `unit`: the mean of its words' vectors); `{}` is the word "
        "as it is written, and `join: _` makes `New_York` of `New York`. Default: `[{}, {lowercase: true}]`, the "
        "word as it is written, else in lower case; of language models `[{}]`",
        None,
    )
    strategy: Literal["first", "all"] = field(
        "`first`: the first form of a word that the model has; `all`: every form that it has. Default of the "
        "look-up: `first`",
        None,
    )
    normalize: bool = field(
        "whether vectors are divided by their length. Default of the look-up: `false`", None
    )
    lost_vocabulary_threshold: Number = field(
        "a set fails if the model lacks more than this share of its words. Default of the look-up: 0.2",
        None,
        "share",
        ge=0,
        le=1,
    )

    @model_validator(mode="after")
    def _check_options(self):
        WordOptions(**self.model_dump(exclude_unset=True))
        return self


def look_up(kind: Kind, *places: Words | None) -> dict[str, Any]:
    """Return the options of the look-up in a model of a kind; the options of later places override earlier ones."""
    options: dict[str, Any] = {"preprocessors": list(default_forms(kind))}
    return options | {name: value for words in places if words for name, value in words if value is not None}


class Measured(Strict):
    """A metric under a key, with its parameters."""

    metric: Text = field("the metric's name (`biasgrid list metrics`); left out: the key", None)
    label: Line = field("what tables and figures print; left out: the metric's own", None)
    params: Params = field("parameters of the metric (docs/metrics.md)", dict)

    def definition(self, key: str) -> metrics.Metric:
        """Return the registered metric under a key, with its parameters set.

        Raise BiasgridError for an unknown metric, and for parameters that it does not take.
        """
        return metrics.metric(self.metric or key).under(self.params or {})


class Metric(Measured):
    """A metric of a study."""

    params: Params = field("parameters of the metric (docs/metrics.md)", None)
    inference: OfMetric = field("what is other than in the study's inference", None)
    words: Words = field("how its words are looked up", None)


Metrics = Annotated[dict[Key, Metric], Field(min_length=1)]
