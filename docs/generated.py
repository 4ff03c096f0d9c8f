"""The pages that are made of code: docs/reference, and one of each metric, debias method and public object.

`make reference` writes them, and so does the site (conf.py). The lists among them are in git (`IN_GIT`), so that a
code host has them. Git ignores all others. A page in git links to the code that an ignored page is made of; in the
site, the link leads to the page.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import gallery
import pages
import plugin_notes
import reference

from biasgrid import debias, figures, metrics, tables
from biasgrid.core.errors import BiasgridError

ROOT = Path(__file__).resolve().parents[1]
# a file of data -> the page that shows it
WHOLE = {
    "docs/defaults.csv": "docs/reference/defaults.md",
    "docs/wefe-defects.csv": "docs/reference/wefe-names.md",
    "docs/wefe-names.csv": "docs/reference/wefe-names.md",
}
LIMITS, FIGURES = ROOT / "docs/reference/limits.md", ROOT / "docs/reference/figures.md"
IN_GIT = {reference.FOLDER / f"{name}.md" for name in reference.PAGES} | {LIMITS}


@cache
def texts() -> dict[Path, str]:
    """The files, and what is in them."""
    whole = {
        LIMITS: pages.limits_page(),
        FIGURES: gallery.reference(),
        ROOT / WHOLE["docs/defaults.csv"]: pages.defaults_page(),
        ROOT / WHOLE["docs/wefe-names.csv"]: pages.wefe_page(),
    }
    return reference.written() | whole | {path: page() for path, page in pages.pages().items()}


@cache
def linked() -> dict[str, str]:
    """What a link to code names -> the page that is made of it, and a heading there."""
    found = dict(WHOLE)
    for path in pages.pages():
        package = metrics if path.parent.name == "metrics" else debias
        found[plugin_notes.code_of(package, path.stem)] = _name(path)
    for path, name in reference.object_pages().items():
        found[reference.code_of(name)] = _name(path)
    for name, figure in figures.REGISTRY.items():
        to = f"{_name(FIGURES)}#{gallery.anchor(gallery.heading(figure))}"
        found[plugin_notes.code_of(figures, name)] = to
    for name in tables.REGISTRY:
        found[plugin_notes.code_of(tables, name)] = _name(reference.FOLDER / "tables" / f"{name}.md")
    return found


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def page_of(code: str) -> str | None:
    """The page, and the heading there, that a link to code leads to in the site; None where there is none."""
    path, _, heading = code.partition("#")
    return linked().get(code) or (f"{WHOLE[path]}#{heading}" if path in WHOLE else None)


def write() -> None:
    """Write what is new, and remove pages of metrics, methods and tables that are gone."""
    for folder in {path.parent for path in texts()} - {reference.FOLDER}:
        for path in set(folder.glob("*.md")) - texts().keys():
            path.unlink()
    for path, text in texts().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # the site reads a file again that is newer
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        write()
    except BiasgridError as error:
        sys.exit(f"reference: {error}")
