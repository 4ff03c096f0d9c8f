"""What debiasing costs and hides: one model, untouched or under one transform, on the tests that its spec names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..debias.transform import Transform
from ..embeddings.store import EmbeddingStore
from ..errors import BiasgridError
from .spec import Direct, Hidden, Questions, Spec, WordMap

__all__ = ["Direct", "Hidden", "Questions", "Spec", "WordMap", "evaluate"]


def evaluate(
    model: EmbeddingStore, transform: Transform | None, spec: Mapping[str, Any] | Spec, seed: int
) -> dict[str, Any]:
    """Every measure that `spec` names (see `Spec.of`) of one state of a model: as it is (`transform` None) or under
    a transform. What a measure is taken on - the most biased words, their directions, the bias subspace - always
    comes from the model as it is, so that the records of its states compare.

    Returns a record for JSON, the same to the last bit for the same input, whatever the number of threads:

    measures  list of {"group", "measure", "value", "n", "status"}; similarity and analogy also have "total", how many
              pairs or questions there are, and with `items` every pair's and question's outcome
    words     side -> the most biased words that clustering and neighbours look at, the most biased first
    map       {"words", "side", "xy"} of some of them (`biasgrid.evaluation.maps`)
    set_map   the same of the words that the spec's `map` names
    answers   by the name of the spec's `questions` (`biasgrid.evaluation.answers`)
    direct    shares of variance of the definitional pairs' components, and projections (`direct_bias`)

    "words" and "map" are empty without `hidden`, the others without what they are of. `n` is how many words, pairs,
    questions or instances the value rests on: those that the model has. `value` is None where there are too few of
    them ("too_few_words" and the like) or the measure is not defined ("degenerate"). Status "no_direction:K" says
    that the value does without K words, pairs or questions whose vectors are zero or not finite; else it is "ok".
    Measures by group:

    hidden        cluster_accuracy, svm_accuracy, neighbours_share, neighbours_correlation (`hidden_bias`)
    direct        direct_bias, direct_bias_all, first_component_share, extreme_<end>, extreme_<end>_order
                  (`direct_bias`)
    similarity    Spearman's rho by benchmark (`retention`)
    analogy       accuracy by benchmark; where it has such sections also <name>_semantic, <name>_syntactic and
                  <name>_family (`analogies`)
    sembias       definition, stereotype, none, and with subset_ before it (`sembias`)
    displacement  mean_cosine_distance, changed_share; only under a transform (`displacement`)

    Raises BiasgridError for a spec that is wrong, a file that cannot be read, a model that lacks every word of
    a direction, and a transform that was fitted on other vectors.
    """
    # cells and the config's checks import this package and evaluate nothing
    from threadpoolctl import threadpool_limits

    from . import analogies, benchmarks, direct_bias, displacement, hidden_bias, maps, retention, sembias
    from .answers import answers

    spec = spec if isinstance(spec, Spec) else Spec.of(spec)
    state = model if transform is None else model.under(transform)
    record: dict[str, Any] = {
        "measures": [],
        "words": {},
        "map": {},
        "set_map": {},
        "answers": {},
        "direct": {},
    }
    measures = record["measures"]
    pairs = {name: benchmarks.word_pairs(path) for name, path in spec.similarity.items()}
    questions = {name: benchmarks.questions(path) for name, path in spec.analogies.items()}
    with threadpool_limits(1):
        if spec.hidden:
            biased = hidden_bias.choose(model, spec.hidden, spec.vocabulary, spec.preprocessors)
            measures += hidden_bias.measures(model, state, biased, spec.hidden, seed, spec.preprocessors)
            record["words"] = biased.names(spec.hidden.sides, spec.hidden.cluster_words)
            record["map"] = maps.of_biased(state, biased, spec.hidden, seed)
        if spec.direct:
            facts, record["direct"] = direct_bias.measures(
                model, state, spec.direct, seed, spec.preprocessors
            )
            measures += facts
        if spec.map:
            record["set_map"] = maps.of_sets(state, spec.map, seed, spec.preprocessors)
        for name, asked in spec.questions.items():
            limit = spec.vocabulary if spec.sorted else None
            look = {"vocabulary": limit, "preprocessors": spec.preprocessors, "seed": seed}
            try:
                found = answers(state, asked.pairs, asked.words, best=asked.best, **look)
            except BiasgridError as error:
                raise BiasgridError(f"questions: {name}: {error}") from None
            record["answers"][name] = found
        measures += retention.measures(state, pairs, spec.preprocessors, spec.look_up, spec.items)
        measures += analogies.measures(
            state, questions, spec.preprocessors, spec.look_up, spec.items, spec.sorted
        )
        if spec.sembias:
            measures += sembias.measures(state, benchmarks.sembias(spec.sembias), spec.preprocessors)
        if transform is not None:
            measures += displacement.measures(model, state, spec.vocabulary)
    return record
