"""The pages that are made of code, which git ignores: docs/reference, and one of each metric and debias method.

`make reference` writes them, and so does the site (conf.py). A page in git links to the code that such a page is made
of, which is all that a code host has; in the site, the link leads to the page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import gallery
import pages
import plugin_notes
import reference

from biasgrid import debias, figures, metrics, tables

ROOT = Path(__file__).resolve().parents[1]
# one page of the whole folder or file
WHOLE = {
    "docs/defaults.csv": "docs/reference/defaults.md",
    "docs/wefe-defects.csv": "docs/reference/wefe-names.md",
    "docs/wefe-names.csv": "docs/reference/wefe-names.md",
    "src/biasgrid/__init__.py": "docs/reference/api.md",
    "src/biasgrid/cli": "docs/reference/command-line.md",
    "src/biasgrid/figures": "docs/reference/figures.md",
    "src/biasgrid/study/config": "docs/reference/configuration.md",
    "src/biasgrid/metrics": "docs/reference/limits.md",
    "src/biasgrid/tables": "docs/reference/tables.md",
    "validation/calibration/frequency_table.py": "docs/reference/tables.md",
}


@cache
def texts() -> dict[Path, str]:
    """The files, and what is in them."""
    whole = {
        ROOT / WHOLE["src/biasgrid/metrics"]: pages.limits_page(),
        ROOT / WHOLE["src/biasgrid/figures"]: gallery.reference(),
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
        found[plugin_notes.code_of(package, path.stem)] = path.relative_to(ROOT).as_posix()
    for name, figure in figures.REGISTRY.items():
        to = f"{WHOLE['src/biasgrid/figures']}#{gallery.anchor(gallery.heading(figure))}"
        found[plugin_notes.code_of(figures, name)] = to
    for name in tables.REGISTRY:
        page = f"docs/reference/tables/{name}.md"
        found |= {plugin_notes.code_of(tables, name): page, f"src/biasgrid/tables#{name}": page}
    return found


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
    write()
