"""Every figure with the longest and oddest texts that are allowed: it is an image, of a page's size."""

import io
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
from conftest import ROOT
from odd_texts import odd

from biasgrid import figures
from biasgrid.figures.frame import style
from biasgrid.figures.text import shorten, shorten_labels
from biasgrid.printable import LONGEST

sys.path.insert(0, str(ROOT / "docs"))
import pictures

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:figures. no font")]
NAMES = {"criterion", "query", "set", "word", "concept", "phenomenon", "list", "training"}
DRAWN = {entry.kind: stem for stem, entry in pictures.PICTURES.items() if entry.kind}


def drawing_of(stem, tmp_path):
    """The drawing of a picture with odd labels, criteria, queries, sets and words."""
    entry, texts = pictures.PICTURES[stem], {}
    drawing = entry.drawing_of(entry.read(), tmp_path)
    tables = {role: file for role, file in drawing.inputs.items() if str(file).endswith(".csv")}
    for file in tables.values():
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
        for column in (c for c in table if c in NAMES):
            length = 100 if column == "criterion" else LONGEST
            texts |= {name: odd(name, length) for name in table[column] if name not in ("", "Overall")}
            table[column] = [texts.get(name, name) for name in table[column]]
        table.to_csv(file, index=False)
    spec = _replaced(dict(drawing.spec), texts)
    if "labels" in spec:
        spec["labels"] = {key: odd(label) for key, label in drawing.spec["labels"].items()}
    return replace(drawing, spec=spec)


def _replaced(value, texts):
    if isinstance(value, dict):
        return {_replaced(key, texts): _replaced(inner, texts) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(inner, texts) for inner in value]
    return texts.get(value, value) if isinstance(value, str) else value


def test_every_kind_is_drawn():
    missing = sorted(set(figures.REGISTRY) - set(DRAWN))
    assert not missing, (
        f"{', '.join(missing)}: Figure.example says which figure of which study the gallery shows"
    )


@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_a_figure_of_odd_texts_is_an_image_of_a_pages_size(kind, tmp_path):
    figure = figures.draw(drawing_of(DRAWN[kind], tmp_path))
    content = io.BytesIO()
    with style():
        figure.savefig(content, format="svg")
    root = ElementTree.fromstring(content.getvalue())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    # a page or two: as large as its numbers need, and not as its texts are
    assert figure.get_figwidth() < 13
    assert figure.get_figheight() < 17


def test_labels_that_a_cut_makes_alike_are_numbered():
    labels = {"a": f"{'x' * 100} one {'y' * 96}", "b": f"{'x' * 100} two {'y' * 96}", "c": "short"}
    cut = f"{'x' * 54} … {'y' * 28}"
    assert shorten_labels(labels) == {"a": cut, "b": f"{cut} (2)", "c": "short"}
    assert shorten("a" * 85) == "a" * 85
