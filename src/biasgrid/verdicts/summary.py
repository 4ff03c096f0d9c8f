"""What a study says, in a few sentences by rule."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from .least_biased import Answer

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def summary(
    answers: Iterable[Answer], criterion: str, labels: Mapping[str, str], by_length: Collection[str]
) -> list[str]:
    """Which model is the least biased on a criterion, and whether that is decided, by how many metrics that compare.

    Parameters
    ----------
    answers
        What each metric says of the models.
    criterion
        The criterion that the sentences are of, mostly "Overall".
    labels
        What metrics and models are called.
    by_length
        Keys of the metrics by which the models do not compare (`verdicts.comparability`).
    """
    of_criterion = [
        answer for answer in answers if answer.criterion == criterion and len(answer.models_with_value) > 1
    ]
    comparable = [answer for answer in of_criterion if answer.metric not in by_length]
    rest = [answer for answer in of_criterion if answer.metric in by_length]
    if not any(answer.has_test for answer in of_criterion):
        return []
    sentences = [_least_biased(comparable, labels)] if comparable else []
    return [*sentences, *([_of_length(rest, labels)] if rest else [])]


def _least_biased(answers: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """Which model is the least biased by metrics that compare."""
    metrics = f"{_count(len(answers))} {'metric' if len(answers) == 1 else 'metrics'} that compare"
    by_model = _metrics_by_model(answers)
    if not by_model:
        return f"No model can be called least biased: of {metrics}, none separates one model from all others."
    verdicts = [
        f"{_count(len(names))} {'separates' if len(names) == 1 else 'separate'} {labels.get(model, model)}"
        for model, names in by_model.items()
    ]
    ((model, names), *rivals) = by_model.items()
    if not rivals and len(names) == len(answers):
        return f"{labels.get(model, model)} is the least biased model by all {metrics}."
    return f"No model can be called least biased: of {metrics}, {', '.join(verdicts)} from all others."


def _of_length(answers: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """Which metrics do not compare, and what they decide nonetheless."""
    names = ", ".join(labels.get(answer.metric, answer.metric) for answer in answers)
    by_model = _metrics_by_model(answers)
    claims = "; ".join(
        f"{', '.join(labels.get(name, name) for name in metrics)} would call {labels.get(model, model)} least biased"
        for model, metrics in by_model.items()
    )
    return (
        f"{names} {'grows' if len(answers) == 1 else 'grow'} with the length of vectors, which differs between the "
        f"models, and {'does' if len(answers) == 1 else 'do'} not compare{f' ({claims})' if claims else ''}."
    )


def _metrics_by_model(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """Model -> the metrics by which it is decided to be the least biased."""
    by_model: dict[str, list[str]] = {}
    for answer in answers:
        if answer.least_biased is not None:
            by_model.setdefault(answer.least_biased, []).append(answer.metric)
    return by_model


def _count(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"
