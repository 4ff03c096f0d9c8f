"""Section on how to cite the study, the versions that computed it, its tables, and its config."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ... import __version__
from ...core.phrases import join_names, pluralize
from .section import ReportData, Section

# End of a line outside of a text: texts in JSON do not contain line ends.
LINE = re.compile(r"\n\s*")


def make(material: ReportData) -> dict[str, Any]:
    versions = material.cells.versions
    return {
        "citation": _citation(material.spec, material.config_text),
        "versions": _versions(versions),
        "mixed": any(len(by_version) > 1 for by_version in versions.values()),
        "study": material.spec["study"],
        "files": material.spec["files"],
        "config": _in_pre(compact(material.config_text)),
    }


def compact(config: str) -> str:
    """Return the text of a config with each list of plain values on one line; it stays JSON with the same content."""
    return re.sub(r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda found: f"[{re.sub(LINE, ' ', found[1])}]", config)


def _in_pre(text: str) -> Markup:
    """Escape a text for an element without escaping quotes, of which a config has thousands."""
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _versions(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Return libraries with the version that computed the results, or with all versions and counts."""
    texts = []
    for library, by_version in counts.items():
        known = {number or "not recorded": n for number, n in sorted(by_version.items())}
        counted = [f"{number} ({pluralize(n, 'result')})" for number, n in known.items()]
        texts.append((library, join_names(counted) if len(known) > 1 else next(iter(known))))
    return texts


def _citation(spec: Mapping[str, Any], config: str) -> str:
    return (
        f"biasgrid {__version__}: social bias in word embeddings, measured reproducibly.\n"
        f"Study {spec['study']}, SHA-256 of its config {hashlib.sha256(config.encode()).hexdigest()}.\n"
        "P. Badilla, F. Bravo-Marquez and J. Pérez. WEFE: The Word Embeddings Fairness Evaluation Framework. IJCAI, "
        "2020."
    )


SECTIONS = (
    Section(
        "cite",
        "How to cite",
        (),
        make,
        "cite.html",
        place=99,
        lead="citation, software versions, tables and config of this study",
        nav="Cite",
    ),
)
