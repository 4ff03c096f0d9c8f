"""Plans of a study's figures, and the drawing of a figure into files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, join_names, unknown_name
from ..core.registry import UnknownEntryError
from ..measure.results import without_collection
from .figure import Drawing, Figure, Files
from .palette import Order, ordered
from .registry import REGISTRY
from .text import shorten_labels

if TYPE_CHECKING:
    from matplotlib import figure

    from ..tables.planned import Planned

# Facts that a figure only needs for its own criterion.
OF_CRITERION = {"neutral", "signs"}


def plan_figures(study: Planned, names: Iterable[str]) -> dict[str, Drawing]:
    """Return the figures of a study by name, for the kinds that its config lists.

    Raises BiasgridError for an unknown name, for a kind whose requirements the study does not meet, and for two
    figures with the same name.
    """
    by_name: dict[str, list[Figure]] = {}
    for kind in REGISTRY.values():
        if kind.config_name:
            by_name.setdefault(kind.config_name, []).append(kind)
    drawings: dict[str, Drawing] = {}
    order = order_of(study.config)
    for name in names:
        if name not in by_name:
            raise UnknownEntryError(unknown_name("figure", name, sorted(by_name)))
        kinds = by_name[name]
        of_kinds = [
            replace(d, kind=kind.name, order=order) for kind in kinds for d in kind.drawings_of(study)
        ]
        needs = next(filter(None, (kind.needs for kind in kinds)), "")
        if needs and not of_kinds and not study.absent:
            raise BiasgridError(f"{name!r} needs {needs}; leave it out")
        for drawing in of_kinds:
            if drawing.name in drawings:
                raise BiasgridError(f"{name}: another figure is named {drawing.name!r}")
            drawings[drawing.name] = drawing
    return drawings


def order_of(config: Any) -> Order:
    """Return the keys of models and metrics in the config's order, the models' full labels, and the languages.

    Colours follow the keys, captions have the full labels, and fonts depend on the languages other than English.
    """
    lists = [config.metrics, *(entry.metrics for entry in config.criteria.values())]
    metrics = dict.fromkeys(key for metrics in lists for key in metrics or ())
    languages = sorted({entry.language for entry in config.models.values()} - {None, "en"})
    names = [entry.label for entry in config.models.values()]
    order = {"models": list(config.models), "names": names, "metrics": list(metrics)}
    return order | ({"languages": languages} if languages else {})


def draw(drawing: Drawing) -> figure.Figure:
    """Draw a figure as a matplotlib figure. Raises BiasgridError for files that are not suitable."""
    # Import late: the import loads matplotlib.
    from .frame import add_to_caption

    spec, kind = dict(drawing.spec), REGISTRY.find(drawing.kind)
    labels = dict(spec.get("labels", {}))
    if labels:
        spec["labels"] = shorten_labels(labels)
    for fact in OF_CRITERION.intersection(kind.facts) if "criterion" in spec else ():
        spec[fact] = {metric: value for name, metric, value in spec[fact] if name == spec["criterion"]}
    with ordered(drawing.order), without_collection():
        drawn = kind.draw(drawing.inputs, spec)
    # Explain shortened labels in the caption.
    whole = zip(drawing.order.get("models", ()), drawing.order.get("names", ()), strict=False)
    shortened = [f"{labels[key]} is {name}" for key, name in whole if labels.get(key, name) != name]
    if shortened:
        add_to_caption(drawn, f"Models: {'; '.join(shortened)}.")
    return drawn


def draw_file(
    kind: str, inputs: Files, spec: Mapping[str, Any], stem: Path | str, order: Order | None = None
) -> list[str]:
    """Draw a figure and write stem.pdf, stem.svg and stem.png.

    The bytes do not depend on what the process has drawn before.

    Parameters
    ----------
    kind
        The name of the figure's kind.
    inputs, spec
        As in its `Drawing`.
    stem
        The files' path without the extension.
    order
        As in its `Drawing`.

    Returns
    -------
    list of str
        The files' paths.

    Raises
    ------
    BiasgridError
        For an unknown kind, and for files that are not suitable for the figure.
    """
    # Import late: the import loads matplotlib.
    from .frame import save

    return save(draw(Drawing(Path(stem).name, inputs, spec, kind, order or {})), stem)


def write_absent(inputs: Files, spec: Mapping[str, Any], output: Path | str) -> list[str]:
    """Draw a page that lists models that could not be downloaded, for a figure of only such models.

    spec has the name of the "figure", and "labels" of the models.
    """
    # Import late: the import loads matplotlib.
    from .frame import empty_page, save, styled

    why = f"{join_names(spec['labels'])} could not be downloaded"
    return save(styled(empty_page)(spec["figure"], why), Path(output).with_suffix(""))


def write(inputs: Files, spec: Mapping[str, Any], output: Path | str) -> list[str]:
    """Run `draw_file` as a task: spec has the "kind", the "order" and the drawing's "spec"; `output` is the PDF."""
    return draw_file(spec["kind"], inputs, spec["spec"], Path(output).with_suffix(""), spec["order"])
