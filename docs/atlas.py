"""The atlas as one page: static vectors and encoders, a tab each, in the form of a study's page. `make atlas` and
`make encoder_atlas` write results/atlas.html from the pages of theirs that are there.

    python docs/atlas.py [RESULTS]
"""

from __future__ import annotations

import html
import sys
from pathlib import Path

TABS = {"atlas": "Static vectors", "encoder_atlas": "Encoders"}  # study -> its tab
PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>The atlas of biasgrid</title>
<style>
body {{ margin: 0; height: 100dvh; display: grid; grid: auto 1fr / repeat({count}, max-content) 1fr;
  background: light-dark(#fff, #16171b); color: light-dark(#1b1b1f, #ececf1) }}
input {{ position: absolute; opacity: 0 }}
label {{ grid-row: 1; font: 1rem system-ui, "DejaVu Sans", sans-serif; padding: .6rem 1.2rem; cursor: pointer;
  border-bottom: 3px solid transparent }}
input:checked + label {{ border-color: light-dark(#0b5cad, #7db7f5); font-weight: bold }}
input:focus-visible + label {{ outline: 2px solid }}
iframe {{ grid-area: 2 / 1 / 3 / -1; width: 100%; height: 100%; border: 0; display: none }}
input:checked + label + iframe {{ display: block }}
</style>
{tabs}
</html>
"""
TAB = """<input type="radio" name="tab" id="{key}"{checked}><label for="{key}">{label}</label>
<iframe title="{label}" srcdoc="{page}"></iframe>"""


def page(results: Path) -> str:
    """The page of the studies that are there; empty where none is."""
    pages = {key: results / key / "report.html" for key in TABS}
    there = [key for key, file in pages.items() if file.is_file()]
    tabs = [
        TAB.format(
            key=key,
            label=TABS[key],
            checked=" checked" if key == there[0] else "",
            page=html.escape(pages[key].read_text(encoding="utf-8")),
        )
        for key in there
    ]
    return PAGE.format(count=len(tabs), tabs="\n".join(tabs)) if tabs else ""


if __name__ == "__main__":
    folder = Path(*sys.argv[1:2] or ["results"])
    if text := page(folder):
        (folder / "atlas.html").write_text(text, encoding="utf-8")
        print(f"one page, with what is there of both atlases: {folder / 'atlas.html'}")
