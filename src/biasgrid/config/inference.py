"""`inference`: tests, intervals and sensitivity of every value."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, PlainValidator, create_model

from ..inference import significance
from ..inference.significance import Test, tests
from ..options import Bootstrap, Interval, Sensitivity
from ..registry import is_pending
from ..validation import Strict, field, validate
from .common import partial

S = TypeVar("S", bound=Strict)


class Inference(Strict):
    """How certain every value is: docs/inference.md. A part that is left out is not computed; `{}` is a part with its
    defaults."""

    bootstrap: Bootstrap = field("bootstrap intervals of values, ranks and correlations", None)
    sensitivity: Sensitivity = field("influence of single words, and split halves", None)
    interval: Interval = field("which interval the tables have", "jackknife")
    adjust: Literal["holm", "benjamini-hochberg"] = field(
        "how p-values are adjusted for the number of tests of a criterion", "holm"
    )

    @property
    def parts(self) -> dict[str, Strict]:
        """The parts that are computed, by name: their options."""
        return {
            part: options
            for part in significance.parts()
            if (options := getattr(self, part, None)) is not None
        }

    @property
    def level(self) -> float:
        """The level of intervals, and that p-values are compared with."""
        return (self.bootstrap or Bootstrap()).level

    @property
    def resamples(self) -> int:
        """How often the words are drawn again."""
        return self.bootstrap.draws if self.bootstrap else 0


class OwnInference(Strict):
    """What is other than in the study's inference, for this metric."""


class _Pending(Strict):
    model_config = ConfigDict(extra="allow")


def inference_of_tests(base: type[S] = Inference) -> type[S]:
    """The section with a key for each test; plugins may add to them. With `OwnInference`: what a metric has of
    its own."""
    return _with_tests(base, tuple(tests()), is_pending())


@lru_cache(maxsize=8)
def _with_tests(base: type[S], tests: tuple[Test, ...], pending: bool) -> type[S]:
    options = {
        test.name: test.options
        if base is Inference
        else partial(test.options, f"What is other than in the study's {test.noun}.")
        for test in tests
    }
    fields = {test.name: (options[test.name], field(_meaning(test.options), None)) for test in tests}
    # a key that is not known may be a test of a plugin that is loaded later
    bases = (base, _Pending) if pending else (base,)
    return create_model(base.__name__, __base__=bases, __doc__=base.__doc__, **fields)


def _meaning(model: type[Strict]) -> str:
    """A model's description, as that of a key."""
    text = (model.__doc__ or "").partition("\n")[0].removesuffix(".")
    return text[:1].lower() + text[1:]


def _check(values: Any) -> Inference:
    return validate(inference_of_tests(), values)


def _check_own(values: Any) -> OwnInference:
    return validate(inference_of_tests(OwnInference), values)


OfStudy = Annotated[Inference, PlainValidator(_check)]
OfMetric = Annotated[OwnInference, PlainValidator(_check_own)]
