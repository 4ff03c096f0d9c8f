"""The last lines of a run: what came out, what has no value, what was reproduced, and where to read all of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..debias import UNTOUCHED
from ..study import Study

LONGEST = 400  # characters of the answer
REASONS = {"lost_words": "too many words lost", "degenerate": "not defined for these vectors"}


def conclusions(study: Study) -> list[str]:
    """The answer per criterion, scores without a value, and verdicts on published numbers: a line each.

    They are read from the study's tables. A table that cannot be read costs its line, and not the run.
    """
    lines = []
    for line in (answer, missing, verdicts):
        try:
            lines.append(line(study))
        except Exception as error:  # the run has succeeded, whatever has become of a table since
            lines.append(" ".join(str(error).split()))
    return [line for line in lines if line]


@dataclass(frozen=True)
class Least:
    """The least biased untouched model of a metric on a criterion; several, if they tie.

    decided  whether it is told apart from all others; None where nothing says so
    """

    criterion: str
    metric: str
    models: tuple[str, ...]
    decided: bool | None


def answer(study: Study) -> str:
    """Which untouched model each metric calls the least biased, by criterion, in a line; "" where there is nothing to
    compare."""
    found = least_biased(study)
    if not found:
        return ""
    labels = _short(study)
    if all(least.decided is None for least in found):
        head = "least biased models (without a bootstrap, how sure that is is unknown)"
    elif any(least.decided for least in found):
        head = "least biased models (*: decided)"
    else:
        head = "least biased models (none is decided)"
    lines = [
        f"{head}: " + "; ".join(f"{criterion}: {text}" for criterion, text in _each(found, labels, inside))
        for inside in (_metrics, _counts)
    ]
    line = next((line for line in lines if len(line) <= LONGEST), lines[-1])
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 2].rpartition(';')[0]}; ..."


def _each(
    found: list[Least], labels: dict[str, str], inside: Callable[[list[Least], dict[str, str]], str]
) -> Iterator[tuple[str, str]]:
    """By criterion: its models, those that most metrics name first."""
    for criterion in dict.fromkeys(least.criterion for least in found):
        by_models: dict[tuple[str, ...], list[Least]] = {}
        for least in found:
            if least.criterion == criterion:
                by_models.setdefault(least.models, []).append(least)
        groups = sorted(by_models.items(), key=lambda group: -len(group[1]))
        names = ("=".join(labels.get(model, model) for model in models) for models, _ in groups)
        yield (
            criterion,
            ", ".join(f"{n} by {inside(part, labels)}" for n, (_, part) in zip(names, groups, strict=True)),
        )


def _metrics(part: list[Least], labels: dict[str, str]) -> str:
    return " ".join(labels.get(least.metric, least.metric) + "*" * bool(least.decided) for least in part)


def _counts(part: list[Least], labels: dict[str, str]) -> str:
    return f"{len(part)}{'*' * any(least.decided for least in part)}"


def least_biased(study: Study) -> list[Least]:
    """What each metric says of the untouched models, in the order of the config; over all criteria is left out."""
    from ..tables.rankings import RANKINGS

    table = RANKINGS.read(study.table_file("rankings"))
    table = table[(table["debias"] == UNTOUCHED) & table["rank"].notna()]
    decided = _decided(study)
    ranks = dict(list(table.groupby(["criterion", "metric"])))
    metrics = list(dict.fromkeys(cell.metric for cell in study.cells.values()))
    found = []
    for place in ((criterion, metric) for criterion in study.ranked for metric in metrics):
        if place in ranks and len(part := ranks[place]) > 1:
            first = tuple(part.loc[part["rank"] == part["rank"].min(), "model"])
            found.append(Least(*place, first, None if decided is None else place in decided))
    return found


def _decided(study: Study) -> Collection[tuple[str, str]] | None:
    """Criteria and metrics whose least biased model is decided; None: the study has no bootstrap."""
    if "bootstrap" not in study.config["inference"]:
        return None
    from ..api.grid_frames import Grid

    table = Grid(study).least_biased(debiased=False)
    return set(table.loc[table["decided"], ["criterion", "metric"]].itertuples(index=False, name=None))


def _short(study: Study) -> dict[str, str]:
    """Labels; of models as many words of theirs as tell them apart."""
    labels = {model: study.labels.get(model, model).split() for model in study.models}
    short = {}
    for model, words in labels.items():
        others = [other for key, other in labels.items() if key != model]
        lengths = (n for n in range(1, len(words)) if all(other[:n] != words[:n] for other in others))
        short[model] = " ".join(words[: next(lengths, len(words))])
    return {**study.labels, **short}


def missing(study: Study) -> str:
    """How many scores have no value, and why."""
    from ..tables.scores import SCORES

    path = study.table_file("scores")
    status = SCORES.read(path)["status"]
    without = status[status != "ok"].str.partition(":")[0].map(lambda reason: REASONS.get(reason, reason))
    if without.empty:
        return f"scores: all {len(status):,} have a value"
    share = f"{len(without):,} of {len(status):,} scores have no value"
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in without.value_counts().items())
    return f"{share}: {reasons}; column status of {path}"


def verdicts(study: Study) -> str:
    """What became of published numbers; "" for a study that compares with none."""
    if "comparison" not in study.tables:
        return ""
    from ..comparison.verdict import VERDICTS
    from ..tables.comparison import COMPARISON

    path = study.table_file("comparison")
    counts = COMPARISON.read(path)["verdict"].value_counts()
    each = ", ".join(
        f"{counts[verdict]:,} {verdict}" for verdict in reversed(VERDICTS) if verdict in counts.index
    )
    return f"{counts.sum():,} published numbers: {each or 'none is of a model of the study'}; {path}"


def where(study: Study) -> str:
    """The path of the report, or of tables and figures where there is none."""
    report = study.results / "report.html"
    return f"report: {report}" if report.is_file() else tables_and_figures(study.results)


def tables_and_figures(results: Path) -> str:
    """Where the results of a run are."""
    figures = results / "figures"
    return f"tables: {results}/*.csv" + (f", figures: {figures}" if figures.is_dir() else "")
