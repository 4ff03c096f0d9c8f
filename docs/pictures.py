"""Every picture of README and docs, and beside it the tables that it is drawn from: `make pictures`.

A picture `images/<stem>.png` is drawn from `images/<stem>.csv` (of several tables, the others are
`images/<stem>.<table>.csv`; of a figure that is drawn from other files, these are .json or .npz) and the study's
config alone. The tables are the rows of results that it shows, so that a test can draw it again
(tests/figures/test_pictures.py). What it shows is declared beside what draws it: by `Figure.example` of a kind of
figure, whose picture is `gallery-<kind>`, and by PICTURES of validation/*/pictures.py of an experiment.

    python docs/pictures.py [STEM ...]             takes tables from results/ and draws; without a stem, all of them
    python docs/pictures.py --redraw [STEM ...]    draws from the tables that lie beside the pictures

A picture's file holds, beside its dots, what the figure is made of (`content_of`): a test compares that with the
figure as it is drawn today, so that another version of a font makes no picture old, and another length of a bar does.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import concepts
import gallery
import numpy as np
import pandas as pd
from matplotlib import figure
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import biasgrid as bg
from biasgrid import figures, tables
from biasgrid.core.errors import BiasgridError, join_names, unknown_name
from biasgrid.core.files import write_bytes
from biasgrid.figures import Drawing, Example
from biasgrid.figures.frame import caption, style
from biasgrid.measure.aggregation import OVERALL
from biasgrid.measure.result import LENGTH
from biasgrid.study.config import load
from biasgrid.study.study import Study
from biasgrid.study.views import published

sys.path.append(str(Path(__file__).resolve().parents[1]))  # validation is a package that no one installs

from validation import pictures as experiments

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
MANY = 2000  # numbers of one mark
# beside those of the gallery: stem -> the figure's kind, and what is shown of it
OTHERS = {
    "what-is-biased": ("bias", figures.REGISTRY["bias"].example),
    "encoder-atlas": ("rank-intervals", Example("encoder_atlas", "rank-intervals", {"criterion": OVERALL})),
    "query-ranks-weat": (
        "query-ranks",
        Example("kinds", "query-ranks-weat", {"criterion": "WEAT", "method": "spearman"}),
    ),
}
Tables = Mapping[str, Any]


def read(name: str, file: Path) -> pd.DataFrame:
    """A table of a study by its declared columns; another one (of an experiment, say) by what stands in it."""
    declared = tables.REGISTRY.get(name)
    if declared and set(declared.names) <= set(pd.read_csv(file, nrows=0).columns):
        return declared.read(file)
    return experiments.read(file)


def read_arrays(name: str, file: Path) -> dict[str, np.ndarray]:
    with np.load(file) as arrays:
        return dict(arrays)


def npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def dumps(documents: list) -> str:
    """A line per document."""
    lines = (json.dumps(document, ensure_ascii=False, separators=(",", ":")) for document in documents)
    return "[\n" + ",\n".join(lines) + "\n]\n"


# what a picture is drawn from -> how such a file is read, and its bytes
FORMATS = {
    ".csv": (read, lambda table: table.to_csv(index=False, lineterminator="\n").encode()),
    ".json": (lambda name, file: json.loads(file.read_text(encoding="utf-8")), lambda d: dumps(d).encode()),
    ".npz": (read_arrays, npz),
}


@dataclass(frozen=True)
class Picture:
    """A picture of the docs: `stem` is its file below images/, without extension."""

    stem: str
    small = False  # half the dots and few colours, for a page of many pictures
    suffix = ".csv"  # of its tables' files, one of FORMATS

    @property
    def files(self) -> dict[str, Path]:
        """Where its tables lie."""
        first, *others = self.names
        named = {name: IMAGES / f"{self.stem}.{name}{self.suffix}" for name in others}
        return {first: IMAGES / f"{self.stem}{self.suffix}"} | named

    @property
    def remedy(self) -> str:
        """Return how to make it."""
        return f"run `{self.command}`, then `make pictures PICTURES={self.stem}`"

    def read(self) -> Tables:
        """Return its tables, which lie beside it. Raises BiasgridError if one is missing."""
        if missing := [file.name for file in self.files.values() if not file.is_file()]:
            raise BiasgridError(f"docs/images has no {join_names(missing)}: {self.remedy}")
        return {name: FORMATS[self.suffix][0](name, file) for name, file in self.files.items()}

    def write(self) -> None:
        """Take its tables from the results, and draw it from them."""
        found = self.take()
        for name, file in self.files.items():
            write_bytes(file, FORMATS[self.suffix][1](found[name]))
        self.redraw()

    def redraw(self) -> None:
        """Draw it as a test draws it again: from the tables that lie beside it."""
        write_bytes(IMAGES / f"{self.stem}.png", png(self.draw(self.read()), self.small))


@dataclass(frozen=True)
class OfTable(Picture):
    """A picture that is drawn from one table."""

    declared: experiments.Picture
    kind = ""

    @property
    def command(self) -> str:
        return self.declared.command

    @property
    def names(self) -> list[str]:
        return [self.declared.table]

    def take(self) -> Tables:
        return {self.declared.table: self.declared.take(ROOT / "results")}

    def draw(self, found: Tables) -> figure.Figure:
        return self.declared.draw(found[self.declared.table])


@dataclass(frozen=True)
class OfStudy(Picture):
    """A picture that is a figure of a study, of a kind."""

    kind: str
    example: Example

    @property
    def small(self) -> bool:
        return self.stem.startswith("gallery-")

    @property
    def command(self) -> str:
        config, cell = self.example.config, self._cell
        if cell:
            return f'biasgrid step "null {cell}" "figure null/{cell}" --study config/{config}.yaml'
        overlay = f"config/with_{figures.REGISTRY.plugin_of(self.kind)}.yaml"
        if (ROOT / overlay).is_file():
            return f"snakemake --cores 2 --configfile config/{config}.yaml {overlay}"
        return "make " + {"embedded": "study"}.get(config, config)

    @property
    def _cell(self) -> str:
        """The cell of a kind that a config asks for cell by cell."""
        is_listed = figures.REGISTRY[self.kind].config_name is not None
        return "" if is_listed else self.example.figure.removeprefix(f"{self.kind}/")

    @cached_property
    def drawing(self) -> Drawing:
        """As the study plans it, whether its config lists the kind or not."""
        study = _study(self.example.config, self._cell)
        drawings = {drawing.name: drawing for drawing in figures.REGISTRY[self.kind].drawings_of(study)}
        if self.example.figure not in drawings:
            name = unknown_name("figure", self.example.figure, drawings)
            raise BiasgridError(f"{self.kind}: Example.figure: config/{self.example.config}.yaml: {name}")
        drawing = replace(drawings[self.example.figure], kind=self.kind, order=figures.order_of(study.config))
        # not one of several pages: the rows say what is drawn
        return replace(drawing, spec={key: value for key, value in drawing.spec.items() if key != "only"})

    @property
    def names(self) -> list[str]:
        return list(self.drawing.inputs)

    @property
    def suffix(self) -> str:
        return next(file.suffix for of_role in self.drawing.inputs.values() for file in _list(of_role))

    def take(self) -> Tables:
        return self.shown(
            {name: self._whole(name, _list(files)) for name, files in self.drawing.inputs.items()}
        )

    def _whole(self, name: str, files: list[Path]) -> Any:
        if self.suffix == ".json":
            return [json.loads((ROOT / file).read_text(encoding="utf-8")) for file in files]
        (file,) = files
        return FORMATS[self.suffix][0](name, ROOT / file)

    def shown(self, found: Tables) -> Tables:
        """The part of the study's tables that the picture shows."""
        rows = self.example.rows
        # of scalars a figure of ranks reads the lengths of vectors alone, of each criterion
        part = {name: lengths(t) if name == "scalars" else only(t, rows) for name, t in found.items()}
        return self.example.keep(part, self.drawing.spec) if self.example.keep else part

    def drawing_of(self, found: Tables, folder: Path) -> Drawing:
        """The study's drawing of these tables, which are written into files below the folder."""
        inputs: dict[str, Any] = {}
        for name, role in self.drawing.inputs.items():
            # documents lie in files of their own
            content = complete(name, found[name]) if self.suffix == ".csv" else found[name]
            is_json = self.suffix == ".json"
            parts = (
                [json.dumps(part).encode() for part in content]
                if is_json
                else [FORMATS[self.suffix][1](content)]
            )
            inputs[name] = [folder / str(i) / f"{name}{self.suffix}" for i in range(len(parts))]
            for file, part in zip(inputs[name], parts, strict=True):
                write_bytes(file, part)
            if not isinstance(role, list):
                (inputs[name],) = inputs[name]
        return replace(self.drawing, inputs=inputs)

    def draw(self, found: Tables) -> figure.Figure:
        with tempfile.TemporaryDirectory() as folder:
            return figures.draw(self.drawing_of(found, Path(folder)))


@cache
def _study(config: str, cell: str) -> Study:
    """A study that ships; `cell` has a null distribution."""
    file = ROOT / "config" / f"{config}.yaml"
    overlay = {"null_distributions": [cell]} if cell else {}
    return Study.of(load.read(file) | overlay, str(file), ROOT)


def _list(role: Any) -> list[Path]:
    return [Path(file) for file in (role if isinstance(role, list) else [role])]


def png(drawn: figure.Figure, is_small: bool) -> bytes:
    """A figure as a PNG with its content; a small one has half the dots and few colours."""
    whole, content = io.BytesIO(), io.BytesIO()
    with style():
        drawn.savefig(whole, format="png", dpi=120 if is_small else 220)
    image = Image.open(whole).convert("RGB")
    if is_small:
        # no dots where a colour is even
        image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    info = PngInfo()
    info.add_itxt("content", json.dumps(content_of(drawn), ensure_ascii=False), zip=True)
    image.save(content, "png", optimize=True, pnginfo=info)
    return content.getvalue()


def content_of(drawn: figure.Figure) -> list[Any]:
    """What a figure is made of, whatever its fonts: texts without their lines, and per panel its ends and the places,
    colours and shapes of its marks, lines, areas and cells."""
    with style():
        drawn.draw_without_rendering()  # what ticks say, and the colours of cells
    texts = [*drawn.texts, *(text for legend in drawn.legends for text in legend.texts)]
    return [[*_words(texts), caption(drawn)], *map(_content_of, drawn.axes)]


def _content_of(axes: Axes) -> list[Any]:
    axis_texts = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    marks: list[Any] = []
    for line in axes.lines:
        look = [
            to_hex(line.get_color()),
            str(line.get_marker())[:20],
            line.get_linestyle(),
            line.get_fillstyle(),
        ]
        marks.append([*look, to_hex(line.get_markerfacecolor()), _numbers(line.get_xydata())])
    for patch in axes.patches:
        corners = patch.get_patch_transform().transform(patch.get_path().vertices)
        marks.append([to_hex(patch.get_facecolor()), patch.get_hatch(), _numbers(corners)])
    for group in axes.collections:
        colours = [to_hex(colour, keep_alpha=True) for colour in np.unique(group.get_facecolor(), axis=0)]
        places = group.get_segments() if isinstance(group, LineCollection) else [group.get_offsets()]
        array = group.get_array()
        marks.append(
            [
                colours,
                *map(_numbers, places),
                None if array is None else _numbers(np.ma.filled(array, np.nan)),
            ]
        )
    ends = _numbers([*axes.get_xlim(), *axes.get_ylim()])
    return [_words([*axis_texts, *ticks, *axes.texts]), ends, marks]


def _words(texts: Iterable[Text]) -> list[str]:
    return [words for text in texts if (words := " ".join(text.get_text().split()))]


def _numbers(values: Any) -> list[float | None]:
    """Numbers to seven digits; of thousands, what is known of them together."""
    flat = np.ma.getdata(values).astype(float).ravel()
    if len(flat) > MANY:
        known = flat[np.isfinite(flat)]
        flat = np.array(
            [len(flat), len(known), known.mean(), known.std(), *np.quantile(known, np.linspace(0, 1, 11))]
        )
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in flat]


def complete(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table with all declared columns; those that results of older code lack, and no picture of them shows, are
    empty."""
    declared = tables.REGISTRY.get(name)
    empty = {"text": "", "count": 0}
    missing = [c for c in (*declared.columns, *declared.ends) if c.name not in table] if declared else []
    return table.assign(**{column.name: empty.get(column.dtype, np.nan) for column in missing})


def only(content: Any, rows: Mapping[str, Any]) -> Any:
    """The rows of a table, or the documents, that have one of these values in each of these columns that it has."""
    for column, value in rows.items():
        allowed = value if isinstance(value, list) else [value]
        if isinstance(content, pd.DataFrame) and column in content:
            content = content[content[column].isin(allowed)]
        elif isinstance(content, list):
            content = [document for document in content if document[column] in allowed]
    return content


def lengths(table: pd.DataFrame) -> pd.DataFrame:
    # which query a length is of is read from its id; long names would fill most of the file
    names = ["query", "parent_query_id", "model_label"]
    return table.loc[table["quantity"] == LENGTH].assign(**dict.fromkeys(names, ""))


def declared() -> dict[str, Picture]:
    """All pictures by stem."""
    kinds = {
        name: figures.REGISTRY[name].example for name in dict.fromkeys([*gallery.LARGE, *figures.REGISTRY])
    }
    found: list[Picture] = [
        *(OfStudy(gallery.stem(name), name, example) for name, example in kinds.items() if example),
        *(OfStudy(stem, *shown) for stem, shown in OTHERS.items()),
        OfTable("concepts", CONCEPTS),
        *(OfTable(stem, picture) for stem, picture in PAPER.items()),
    ]
    for file in sorted((ROOT / "validation").glob("*/pictures.py")):
        module = import_module(f"validation.{file.parent.name}.pictures")
        found += [OfTable(stem, picture) for stem, picture in module.PICTURES.items()]
    return {picture.stem: picture for picture in found}


# the scores of one query and metric, a row per model, and how they came about
ONE_QUERY = {"criterion": "Gender", "metric": "weat", "debias": "none"}
ONE_QUERY["query"] = "Male terms and Female terms wrt Career and Family"
CONCEPTS = experiments.Picture(
    "make study",
    "scores",
    lambda results: only(read("scores", results / "embedded" / "scores.csv"), ONE_QUERY),
    concepts.flow,
)
# the figures of WEFE's case study, from what was printed: stem -> the kind, and what it shows
PAPER = {
    stem: experiments.Picture(
        "biasgrid.published",
        "published",
        lambda results, quantity=quantity: only(bg.published("case_study").frame, {"quantity": quantity}),
        lambda table, kind=kind: published.draw(table, kind, {}),
    )
    for stem, kind, quantity in (
        ("paper-rankings", "rankings-by-criterion", "rank"),
        ("paper-correlations", "correlations", ["rank", "correlation"]),
    )
}
PICTURES = declared()


def main(arguments: list[str]) -> int:
    """Take the tables from the results, and draw the pictures from them; returns the exit code."""
    is_redrawn, stems = arguments[:1] == ["--redraw"], [name for name in arguments if name != "--redraw"]
    for stem in stems or PICTURES:
        if stem not in PICTURES:
            print(f"no picture {stem!r}; allowed are {', '.join(PICTURES)}", file=sys.stderr)
            return 2
        try:
            PICTURES[stem].redraw() if is_redrawn else PICTURES[stem].write()
        except FileNotFoundError as error:
            file = os.path.relpath(error.filename, ROOT)
            print(f"{stem}: {file} is not there: {PICTURES[stem].remedy}", file=sys.stderr)
            return 2
        except (OSError, BiasgridError) as error:
            print(f"{stem}: {' '.join(str(error).split())}", file=sys.stderr)
            return 2
    gallery.PAGE.write_text(gallery.page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
