"""Every picture of README and docs, and beside it the tables that it is drawn from: `make pictures`.

A picture `images/<stem>.png` is drawn from `images/<stem>.csv` (of several tables, the others are
`images/<stem>.<table>.csv`; of a figure that is drawn from other files, these are .json or .npz) and the study's
config alone. The tables are the rows of results that it shows, so that a test can draw it again
(tests/figures/test_pictures.py). To add a picture, add an entry to PICTURES. Pictures of the gallery are
`gallery-<kind>`; the page itself is written from the declarations of the figures (docs/gallery.py).

    python docs/pictures.py [STEM ...]      takes the tables from results/ and draws; without a stem, all of them
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import concepts
import gallery
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from biasgrid import figures, metrics, properties, tables
from biasgrid.config import load
from biasgrid.errors import BiasgridError
from biasgrid.figures.layout import save, style
from biasgrid.figures.null import drawing as null_drawing
from biasgrid.figures.shuffled import ENDS as SHARES_DRAWN
from biasgrid.files import write_bytes
from biasgrid.numbers import coefficient, decimal, interval, typeset, typographic
from biasgrid.properties.figures import counterexamples, matrix, ranges
from biasgrid.result import LENGTH
from biasgrid.statistics.aggregation import OVERALL
from biasgrid.study import Study

sys.path.append(str(Path(__file__).resolve().parents[1]))  # validation is a package that no one installs

from validation.calibration import Simulation
from validation.calibration.frequency_plots import shares as frequency_shares
from validation.calibration.plots import coverage, p_values, shares
from validation.planted_bias import Factory, claim_plots
from validation.planted_bias.claims import CLAIMS
from validation.planted_bias.truth_plots import against_truth, word_level

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
Tables = Mapping[str, Any]


def read(name: str, file: Path) -> pd.DataFrame:
    """A table of a study by its declared columns; another one (of a simulation, say) by what stands in it."""
    declared = tables.REGISTRY.get(name)
    if declared and set(declared.names) <= set(pd.read_csv(file, nrows=0).columns):
        return declared.read(file)
    table = pd.read_csv(file, keep_default_na=False, na_values=[""], float_precision="round_trip")
    texts = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    return table.fillna(dict.fromkeys(texts, ""))


def read_arrays(name: str, file: Path) -> dict[str, np.ndarray]:
    with np.load(file) as arrays:
        return dict(arrays)


def npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


# what a picture is drawn from -> how such a file is read, and its bytes
FORMATS = {
    ".csv": (read, lambda table: table.to_csv(index=False, lineterminator="\n").encode()),
    ".json": (lambda name, file: json.loads(file.read_text(encoding="utf-8")), lambda d: dumps(d).encode()),
    ".npz": (read_arrays, npz),
}


def dumps(documents: list) -> str:
    """A line per document."""
    lines = (json.dumps(document, ensure_ascii=False, separators=(",", ":")) for document in documents)
    return "[\n" + ",\n".join(lines) + "\n]\n"


@dataclass(frozen=True)
class Picture:
    """A picture of the docs.

    command  what makes the results that its tables are taken from
    names    of its tables
    take     the tables by name, from these results
    draw     the figure, from the tables
    shows    from the tables, numbers that stand in the figure: as places of marks, or, if text, written
    suffix   of its tables' files, one of FORMATS
    small    whether it has half the dots and few colours, for a page of many pictures
    kind     of figure of a study
    """

    command: str
    names: tuple[str, ...]
    take: Callable[[], Tables]
    draw: Callable[[Tables], Figure]
    shows: Callable[[Tables], list]
    suffix: str = ".csv"
    small: bool = False
    kind: str = ""

    def files(self, stem: str) -> dict[str, Path]:
        """Where its tables lie."""
        first, *others = self.names
        named = {name: IMAGES / f"{stem}.{name}{self.suffix}" for name in others}
        return {first: IMAGES / f"{stem}{self.suffix}"} | named

    def read(self, stem: str) -> Tables:
        """Its tables as they lie beside it."""
        return {name: FORMATS[self.suffix][0](name, file) for name, file in self.files(stem).items()}

    def save(self, figure: Figure, stem: str) -> None:
        """Write the picture."""
        if self.small:
            write_bytes(IMAGES / f"{stem}.png", small(figure))
        else:
            save(figure, IMAGES / stem, ["png"])


def small(figure: Figure) -> bytes:
    """A figure as a PNG of half the dots and few colours."""
    drawn, content = io.BytesIO(), io.BytesIO()
    with style():
        figure.savefig(drawn, format="png", dpi=120)
    # no dots where a colour is even
    image = Image.open(drawn).convert("RGB")
    image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    image.save(content, "png", optimize=True)
    return content.getvalue()


def of_study(
    config: str,
    figure: str,
    rows: Callable[[Study, Any], Any],
    shows: Callable[[Tables], list],
    *,
    listed: str = "",
    null: str = "",
    suffix: str = ".csv",
    small: bool = False,
) -> Picture:
    """A picture that is a figure of a study, from some rows of its tables, or parts of other files.

    listed  the figure's name in a config, where the study does not draw it
    null    the cell of a null distribution
    """
    study = _study(config, listed)
    drawing = null_drawing(study, study.cells[null]) if null else study.figures[figure]
    # not one of several pages: the rows say what is drawn
    drawing = replace(drawing, spec={key: value for key, value in drawing.spec.items() if key != "only"})

    def files(name: str) -> list[Path]:
        role = drawing.inputs[name]
        return [ROOT / file for file in (role if isinstance(role, list) else [role])]

    def take() -> Tables:
        # of scalars a figure of ranks reads the lengths of vectors alone, of each criterion
        return {
            name: (lengths if name == "scalars" else rows)(study, _whole(name, files(name), suffix))
            for name in drawing.inputs
        }

    def draw(found: Tables) -> Figure:
        # as the study draws it, but from these tables
        with tempfile.TemporaryDirectory() as folder:
            inputs = {}
            for name, role in drawing.inputs.items():
                # documents lie in files of their own
                table = complete(name, found[name]) if suffix == ".csv" else found[name]
                parts = table if suffix == ".json" else [FORMATS[suffix][1](table)]
                inputs[name] = [Path(folder, str(i), f"{name}{suffix}") for i in range(len(parts))]
                for file, part in zip(inputs[name], parts, strict=True):
                    write_bytes(file, part if isinstance(part, bytes) else json.dumps(part).encode())
                if not isinstance(role, list):
                    (inputs[name],) = inputs[name]
            return figures.draw(replace(drawing, inputs=inputs))

    names = tuple(drawing.inputs)
    command = "make " + {"embedded": "study"}.get(config, config)
    if null:
        command = f"biasgrid null --study config/{config}.yaml --cell {null}"
    return Picture(command, names, take, draw, shows, suffix, small, drawing.kind)


def complete(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table with all declared columns; those that results of older code lack, and no picture of them shows, are
    empty."""
    declared = tables.REGISTRY.get(name)
    empty = {"text": "", "count": 0}
    missing = [c for c in (*declared.columns, *declared.ends) if c.name not in table] if declared else []
    return table.assign(**{column.name: empty.get(column.dtype, np.nan) for column in missing})


def _whole(name: str, files: list[Path], suffix: str) -> Any:
    if suffix == ".json":
        return [json.loads(file.read_text(encoding="utf-8")) for file in files]
    (file,) = files
    return FORMATS[suffix][0](name, file)


@cache
def _study(config: str, listed: str) -> Study:
    file = ROOT / "config" / f"{config}.yaml"
    overlay = {"figures": [listed]} if listed else {}
    return Study.of(load.read(file) | overlay, str(file), ROOT)


def _results(folder: str, *names: str) -> Tables:
    return {name: read(name, ROOT / "results" / folder / f"{name}.csv") for name in names}


def lengths(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    # which query a length is of is read from its id; long names would fill most of the file
    names = ["query", "parent_query_id", "model_label"]
    return table.loc[table["quantity"] == LENGTH].assign(**dict.fromkeys(names, ""))


def overall(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["criterion"] == OVERALL] if "criterion" in table else table


def of_method(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["method"] == study.config["correlations"][0]] if "method" in table else table


def of_gender(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["criterion"] == "Gender"]


def ranks_shown(found: Tables) -> list:
    ranks = found["rank_intervals"]
    both = ranks[ranks["resampled"] == "both"]
    return [*both["rank"], *both[["low", "high"]].to_numpy().ravel()]


def query_ranks_shown(found: Tables) -> list:
    ranks, correlations = found["query_ranks"], found["query_correlations"]["correlation"]
    return [*ranks[["rank", "rank_low", "rank_high"]].to_numpy().ravel(), *map(correlation, correlations)]


def quality_shown(found: Tables) -> list[str]:
    ranks = pd.concat([found["rankings"]["rank"], found["quality"]["common_rank"]])
    return [f"{rank:g}" for rank in ranks.dropna()]


def correlation(value: float) -> str:
    return typeset(value, form=coefficient)


def correlations_shown(found: Tables) -> list[str]:
    return [correlation(value) for value in found["correlations"]["correlation"].dropna()]


def of_phenomena(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of gender's phenomena, of three metrics."""
    table = table[table["criterion"] == "Gender of 30 phenomena"]
    if "set" in table:
        table = table[~table["set"].str.endswith(" terms")]
    return table[table["metric"].isin(["pmi", "direct_bias", "rnd"])] if "metric" in table else table


def means_shown(found: Tables) -> list[float]:
    return list(found["scores"].groupby(["metric", "model"])["value"].mean())


def own_covariates(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of gender's phenomena, of PMI those of the corpus that a model is trained on."""
    sources = {key: model["source"].get("corpus", {}).get("name") for key, model in study.models.items()}
    own = np.array(
        [
            corpus in ("", sources[model])
            for model, corpus in zip(table["model"], table["corpus"], strict=True)
        ]
    )
    return table[own & (table["criterion"] == "Gender of 30 phenomena") & (table["method"] == "spearman")]


def covariates_shown(found: Tables) -> list[float]:
    table = found["covariates"].dropna(subset="correlation")
    return [*table["correlation"], *table[["ci_low", "ci_high"]].to_numpy().ravel()]


def frequency_shown(found: Tables) -> list[str]:
    """The correlations with frequency, and their intervals, as they are written."""
    table = found["phenomenon_correlations"]
    table = table[table["quantity"] == "frequency"]
    pairs = zip(
        *(table[table["method"] == method].to_dict("records") for method in ("pearson", "spearman")),
        strict=True,
    )
    return [
        " ".join(
            typographic(
                f"{sign} = {coefficient(row['correlation'])} "
                f"{interval(row['ci_low'], row['ci_high'], form=coefficient)}"
            )
            for sign, row in zip("rρ", both, strict=True)
        )
        for both in pairs
    ]


def of_lists(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of three metrics, of the lists with career and family."""
    table = table[table["metric"].isin(["mac", "rnd", "weat_es"])]
    if "concept" in table:
        return table[table["concept"].str.contains("career")]
    return table[table["query"].str.contains("Career|Family")]


def of_trainings(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of three metrics, of word2vec's trainings and the query of career and family."""
    table = table[table["metric"].isin(["rnd", "weat", "weat_es"]) & (table["query_id"] == "career")]
    if "training" in table:
        return table[table["training"] == "word2vec"]
    training = study.config["trainings"]["word2vec"]
    models = {model for models in training["vary"].values() for model in models}
    return table[table["model"].isin(models | {training["base"]})]


def shares_shown(found: Tables) -> list[float]:
    """The shares that are within the axis; others are marked at its edge."""
    shares = found["shuffled"]["share"]
    return list(shares[shares.between(*SHARES_DRAWN)])


def trade_off_shown(found: Tables) -> list[float]:
    """Of each method: how much bias it removes, and how much quality it keeps."""
    table = found["mitigation"][found["mitigation"]["before"] > 0]
    table = table.assign(kept=table["after"] / table["before"])
    shown = []
    for _, part in table.groupby(["model", "debias"]):
        removed = (1 - part.loc[part["group"] == "metric", "kept"]).clip(lower=-1).mean()
        kept = part.loc[part["group"] == "similarity", "kept"].mean()
        shown += [removed, kept] if np.isfinite([removed, kept]).all() else []
    return shown


def hidden_shown(found: Tables) -> list:
    hidden = found["mitigation"][found["mitigation"]["group"] == "hidden"]
    return [*hidden[["before", "after"]].to_numpy().ravel(), *map(correlation, hidden["after"].dropna())]


CAREER = "Male terms and Female terms wrt Career and Family"
ANALOGIES = "analogies-gender-bolukbasi-w2v-gnews-small"
SHARES = "negative_sentiment_distribution"
STEPS = 200  # of the axis of p-values, on which a picture has some 400 pixels


def simulation() -> Simulation:
    return Simulation.read(ROOT / "validation" / "calibration" / "simulation.yaml")


def simulated(ending: str) -> Picture:
    def take() -> Tables:
        table = _results("simulation", "simulation")["simulation"]
        return {"simulation": table[table["what"].str.endswith(ending)]}

    def draw(found: Tables) -> Figure:
        level = simulation().config["coverage"]["level"]
        true = ending.removeprefix("_covers_")
        numbers = {
            name: pd.to_numeric(found["simulation"][name]) for name in ("words", "bias", "low", "high")
        }
        return coverage(found["simulation"].assign(**numbers), simulation().labels, true, level)

    def shows(found: Tables) -> list[float]:
        values = found["simulation"]["value"]
        return list(values[values >= 0.7])  # lower ones are marked at the edge

    return Picture("make simulation", ("simulation",), take, draw, shows)


def simulated_p_values() -> Picture:
    def take() -> Tables:
        rows = []
        for name, cell in simulation().cells.items():
            record = json.loads((ROOT / simulation().cell_file(name)).read_text(encoding="utf-8"))
            # no counts of a metric without a test
            place = np.ceil(np.array(record["null"].get("uniform", [])) * STEPS).clip(1, STEPS).astype(int)
            counts = np.bincount(place, minlength=STEPS + 1)[1:] if len(place) else []
            rows.append((*cell.place.values(), " ".join(map(str, counts))))
        return {"p_values": pd.DataFrame(rows, columns=["metric", "words", "bias", "counts"])}

    def draw(found: Tables) -> Figure:
        return p_values(curves(found), simulation().labels)

    def curves(found: Tables) -> dict[tuple, np.ndarray | None]:
        upper = np.arange(1, STEPS + 1) / STEPS
        return {
            (row.metric, int(row.words), float(row.bias)): np.repeat(upper, [*map(int, row.counts.split())])
            if row.counts
            else None
            for row in found["p_values"].itertuples()
        }

    def shows(found: Tables) -> list[float]:
        return [float(p) for values in curves(found).values() if values is not None for p in values]

    return Picture("make simulation", ("p_values",), take, draw, shows)


def calibrated() -> Picture:
    def take() -> Tables:
        return _results("simulation", "calibration")

    def numbers(found: Tables) -> pd.DataFrame:
        return _numbers(found["calibration"], "rejected_0.05", "low", "high")

    def draw(found: Tables) -> Figure:
        return shares(numbers(found), simulation().real_labels)

    def shows(found: Tables) -> list[float]:
        table = numbers(found)
        return list(table["rejected_0.05"][table["kind"].isin(["random", "coherent"])].dropna())

    return Picture("make simulation", ("calibration",), take, draw, shows)


def frequency_tested(by: str) -> Picture:
    def take() -> Tables:
        return _results("simulation_frequency", "frequency_tests")

    def draw(found: Tables) -> Figure:
        labels = Simulation.read(
            ROOT / "validation" / "calibration" / "simulation_frequency.yaml"
        ).frequency_labels
        return frequency_shares(found["frequency_tests"], labels, by)

    def shows(found: Tables) -> list[float]:
        table = found["frequency_tests"]
        of = table["metric"] == "weat" if by == "training" else table["training"] == "all"
        return list(table["rejected_0.05"][of & ~table["width"].isin([2, 3, 6, 8])].dropna())

    return Picture("make simulation-frequency", ("frequency_tests",), take, draw, shows)


def factory(name: str = "factory") -> Factory:
    return Factory.read(ROOT / "validation" / "planted_bias" / f"{name}.yaml")


def planted(name: str, truth: str = "", against: str = "", study: str = "factory") -> Picture:
    """A figure of the planted-bias benchmark, which has its table beside it: a column per metric."""
    settings = ["trainer", "vectors", "truth", "judged"]

    def metrics() -> list[str]:
        given = factory(study).config["metrics"].items()
        return [key for key, entry in given if truth in ("", entry["truth"])]

    def numbers(found: Tables) -> pd.DataFrame:
        return _numbers(found[name], *found[name].columns.difference(settings))

    def take() -> Tables:
        (table,) = _results(f"{study}/figures", name).values()
        others = [key for key in factory(study).config["metrics"] if key not in metrics()]
        return {name: table.drop(columns=others, errors="ignore")}

    def draw(found: Tables) -> Figure:
        table, labels = numbers(found), factory(study).labels
        if truth:
            return against_truth(table, labels, truth, metrics(), against)
        return word_level(table, labels, against)

    def shows(found: Tables) -> list[float]:
        table, shown = numbers(found), []
        for metric in table.columns.intersection(metrics()):
            known = table[table[metric].notna()]
            shown += [*known[metric], *(known[f"true_{truth}"] if truth else [])]
        return shown

    return Picture(COMMANDS[study], (name,), take, draw, shows)


# config of a planted-bias benchmark -> what makes its results
COMMANDS = {"factory": "make factory", "planted_bert": "make planted-bert-paper"}


def of_models(
    name: str,
    draw: Callable[[pd.DataFrame, dict[str, str]], Figure],
    shows: Callable[[pd.DataFrame], list],
    texts: Sequence[str] = ("trainer", "vectors", "judged"),
    study: str = "planted_bert",
) -> Picture:
    """A figure of a planted-bias benchmark's models, or of claims about them, which has its table beside it; columns
    are numbers but for `texts`."""

    def numbers(found: Tables) -> pd.DataFrame:
        return _numbers(found[name], *found[name].columns.difference(texts))

    return Picture(
        COMMANDS[study],
        (name,),
        lambda: _results(f"{study}/figures", name),
        lambda found: draw(numbers(found), factory(study).labels),
        lambda found: shows(numbers(found)),
    )


def directions_shown(table: pd.DataFrame) -> list[float]:
    known = table[(table["same"] - table["direct_bias"]).notna()]
    return [*known["angle"], *(known["same"] - known["direct_bias"])]


def example_shown(table: pd.DataFrame) -> list[float]:
    ways = table[[f"example_{i}" for i in range(1, 11)]]
    return [*ways.to_numpy().ravel(), *table["example_same"]]


def property_verdicts(found: pd.DataFrame) -> list[properties.Verdict]:
    """Verdicts from a table that has their fields, and their counterexamples in `settings`."""
    verdicts = []
    for row in found.to_dict("records"):
        settings = json.loads(row.pop("settings", "") or "[]")
        example = properties.Example(
            tuple(
                properties.Setting(
                    s["name"], *(tuple(map(np.array, s[side])) for side in ("groups", "words"))
                )
                for s in settings
            ),
            tuple(tuple(np.nan if value is None else value for value in s["values"]) for s in settings),
            row["note"],
        )
        row |= {"tried": int(row["tried"]), "neutral": float(row["neutral"])}
        verdicts.append(properties.Verdict(**row, example=example if settings else None))
    return verdicts


def of_properties(draw: Callable, examples: bool, shows: Callable[[list], list]) -> Picture:
    def take() -> Tables:
        folder = ROOT / "results" / "properties"
        table = read("properties", folder / "properties.csv").drop(columns="construction")
        table["neutral"] = [metrics.metric(name).neutral for name in table["metric"]]
        if examples:
            found = json.loads((folder / "counterexamples.json").read_text(encoding="utf-8"))
            keys = [verdict.key for verdict in property_verdicts(table)]
            settings = [
                [
                    {name: part for name, part in s.items() if name != "nearness"}
                    for s in found[key]["settings"]
                ]
                if key in found
                else []
                for key in keys
            ]
            table["settings"] = [json.dumps(part) if part else "" for part in settings]
            table = table[(table["level"] == properties.SET) & (table["settings"] != "")]
            table = table[table["property"] == "comparable"] if draw is ranges else table
        return {"properties": table}

    return Picture(
        "make properties",
        ("properties",),
        take,
        lambda found: draw(property_verdicts(found["properties"])),
        lambda found: shows(property_verdicts(found["properties"])),
    )


def verdicts_shown(verdicts: list[properties.Verdict]) -> list[str]:
    return [
        {properties.UNDEFINED: "no value"}.get(verdict.holds, verdict.holds)
        for verdict in verdicts
        # what was not examined has no row in the figure
        if not verdict.condition and verdict.holds != properties.NOT_EXAMINED
    ]


def examples_shown(verdicts: list[properties.Verdict]) -> list[float]:
    """The words of the settings in which a metric does not see skew or stereotype."""
    settings = {
        verdict.example.settings[0].name: verdict.example.settings[0]
        for verdict in verdicts
        if verdict.property in ("skew", "stereotype") and not verdict.condition
    }
    places = [
        np.unique(np.concatenate(setting.words)[:, :2].round(9), axis=0) for setting in settings.values()
    ]
    return [float(x) for rows in places for x in rows.ravel()]


def ranges_shown(verdicts: list[properties.Verdict]) -> list[str]:
    """Settings in which the same metric has another range."""
    examples = [v.example for v in verdicts if v.property == "comparable" and v.example]
    return [word for example in examples for s in example.settings for word in s.name.split()]


def only(**values: Any) -> Callable[[Study, pd.DataFrame], pd.DataFrame]:
    """The rows of a table that have one of these values in each of these columns, where it has the column."""

    def rows(study: Study, table: pd.DataFrame) -> pd.DataFrame:
        for column, allowed in values.items():
            if column in table:
                table = table[table[column].isin(allowed if isinstance(allowed, list) else [allowed])]
        return table

    return rows


def first_answers(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The best answers for ten words in either direction; of methods of one pair, those of the first."""
    asked = {name: words[:10] for name, _, words in study.figures[ANALOGIES].spec["questions"]}
    if "word" in table:
        kept = [row.word in asked.get(row.questions, ()) for row in table[["questions", "word"]].itertuples()]
        table = table[kept]
    return only(rank=1, pair=["", "he:she", "she:he"])(study, table)


def numbers_of(table: str, *columns: str) -> Callable[[Tables], list[float]]:
    """What is shown of a table: all numbers of these columns, as places."""
    return lambda found: [float(x) for x in found[table][list(columns)].to_numpy().ravel() if x == x]


def most_influential(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the ten words that a figure names."""
    table = only(criterion="Gender", metric="weat_es")(study, table)
    if "standard_error" in table:
        return table
    moved, word = moves(table, _results("embedded", "inference")["inference"]), ["query", "set", "word"]
    farthest = moved["moved"].abs().groupby([moved[key] for key in word]).max().nlargest(10)
    return table[pd.MultiIndex.from_frame(table[word]).isin(farthest.index)]


def moves(influence: pd.DataFrame, inference: pd.DataFrame) -> pd.DataFrame:
    """How far scores move without a word, in standard errors."""
    keys = ["query", "metric", "model", "debias"]
    table = influence.merge(inference[[*keys, "standard_error"]].drop_duplicates(), on=keys, how="left")
    return table.assign(moved=table["influence"] / table["standard_error"])


def influence_shown(found: Tables) -> list[float]:
    return list(moves(found["influence"], found["inference"])["moved"].dropna())


def order_shown(found: Tables) -> list[str]:
    table = found["order"]["share_of_resamples"]
    return [f"{share * 100:.0f}" for share in table if 0.005 <= share < 0.995]


def before_after_shown(found: Tables) -> list[float]:
    """How long bars are: what is left of a metric's bias."""
    table = found["mitigation"]
    return list((table["after"] / table["before"])[table["after"] < table["before"]])


def maps(*states: str) -> Callable[[Study, list], list]:
    """What a word map is drawn from, of the model under these debias methods; places to two digits."""

    def parts(study: Study, records: list) -> list:
        return [
            {name: record[name] for name in ("criterion", "model", "debias")}
            | {"measures": [m for m in record["measures"] if m["measure"] == "cluster_accuracy"]}
            | {"map": record["map"] | {"xy": np.round(record["map"]["xy"], 2).tolist()}}
            for record in records
            if record["debias"] in states
        ]

    return parts


def word_maps_shown(found: Tables) -> list[float]:
    return [x for record in found["evaluations"] for place in record["map"]["xy"] for x in place]


def set_map(study: Study, records: list) -> list:
    names = ("criterion", "model", "debias", "set_map")
    return [{name: record[name] for name in names} | {"measures": []} for record in records]


def set_map_shown(found: Tables) -> list[str]:
    """Names of words; some have no room."""
    return found["evaluations"][0]["set_map"]["words"][:5]


def extremes(study: Study, records: list) -> list:
    names = ("criterion", "model", "debias", "direct")
    return [{name: record[name] for name in names} | {"measures": []} for record in records]


def extremes_shown(found: Tables) -> list[str]:
    direct = found["evaluation"][0]["direct"]
    return [typeset(value) for words in direct["projections"].values() for _, value in words[:5]]


def sentiments(study: Study, cells: list) -> list:
    """What RNSB's classifier says of each name, in the cells of one model."""
    return [
        {name: cell[name] for name in ("criterion", "query", "metric", "model", "debias")}
        | {
            "results": [
                {name: result[name] for name in ("query", "status", "value")}
                | {"scalars": {"accuracy": result["scalars"]["accuracy"]}}
                | {"detail": {SHARES: result["detail"][SHARES]}}
                for result in cell["results"]
            ]
        }
        for cell in cells
        if cell["model"] == "glove-6b-50d"
    ]


def sentiments_shown(found: Tables) -> list[str]:
    return [coefficient(r["scalars"]["accuracy"]) for cell in found["cells"] for r in cell["results"]]


def pairs_of(metric: str, detail: str, digits: int) -> Callable[[Study, list], list]:
    """What a metric of pairs says of each sentence, numbered and to a few digits, and what was fitted to it."""

    def parts(study: Study, cells: list) -> list:
        kept = ("criterion", "query", "metric", "model", "debias", "function", "params")
        return [
            {name: cell[name] for name in kept}
            | {
                "results": [
                    {name: result[name] for name in ("query", "status", "value")}
                    | {"scalars": {k: v for k, v in result["scalars"].items() if "genextreme" in k}}
                    | {
                        "detail": {
                            detail: {
                                name: {str(i): round(v, digits) for i, v in enumerate(of_set.values())}
                                for name, of_set in result["detail"][detail].items()
                            }
                        }
                    }
                    for result in cell["results"]
                ]
            }
            for cell in cells
            if cell["metric"] == metric
        ]

    return parts


def differences_shown(found: Tables) -> list[float]:
    """The means of each version, which are lines."""
    sets = {
        name: of_set
        for cell in found["cells"]
        for result in cell["results"]
        for name, of_set in list(result["detail"]["difference"].items())[::2]
    }
    return [float(np.mean([*of_set.values()])) for of_set in sets.values()]


def distributions_shown(found: Tables) -> list[float]:
    """Ends of the curves: the smallest and the largest score."""
    sets = [
        of_set for cell in found["cells"] for r in cell["results"] for of_set in r["detail"]["score"].values()
    ]
    return [float(end([*of_set.values()])) for of_set in sets for end in (min, max)]


def null_values(study: Study, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Three digits of each value do for a histogram."""
    return {
        name: array.astype(np.float16) if array.dtype == np.float64 else array
        for name, array in arrays.items()
    }


def null_shown(found: Tables) -> list[float]:
    (result,) = json.loads(found["null"]["results"].tobytes())
    return [result["value"], *result["bootstrap"]["jackknife"]]


def words_of(figure: str) -> Callable[[Study, pd.DataFrame], pd.DataFrame]:
    """What the figure's cell says of its words."""

    def rows(study: Study, table: pd.DataFrame) -> pd.DataFrame:
        place = study.figures[figure].spec["place"]
        for column in [
            name for name in ("criterion", "query", "metric", "model", "debias", "detail") if name in table
        ]:
            names = place["queries"] if column == "query" else [place[column]]
            table = table[table[column].isin(names)]
        return table.drop_duplicates("word") if "word" in table else table

    return rows


def projections_shown(found: Tables) -> list[str]:
    """The values of the five words furthest to either side."""
    values = found["words"]["value"].sort_values()
    return [typeset(abs(value)) for value in [*values[:5], *values[-5:]]]


def ratings_shown(found: Tables) -> list[float]:
    """The places of the words that have a rating and a value."""
    rated = found["rated"].set_index("word")["rating"]
    value = found["words"].set_index("word")["value"].dropna()
    return [float(x) for word in value.index.intersection(rated.index) for x in (rated[word], value[word])]


def weat_shown(found: Tables) -> list[str]:
    """Effect sizes, as they are printed and ours."""
    table = found["comparison"][found["comparison"]["quantity"].str.endswith(": value")]
    return [
        typeset(value, form=decimal)
        for value in table[["published", "ours"]].to_numpy().ravel()
        if value == value
    ]


def drawing_of_concepts() -> Picture:
    """The scores of one query and metric, a row per model, and how they came about."""

    def take() -> Tables:
        rows = only(criterion="Gender", metric="weat", debias="none", query=CAREER)
        return {"scores": rows(_study("embedded", ""), _results("embedded", "scores")["scores"])}

    def shows(found: Tables) -> list:
        table = found["scores"]
        return [
            *table["value"],
            *table[["ci_low", "ci_high"]].to_numpy().ravel(),
            typeset(table["value"].iloc[0]),
        ]

    return Picture("make study", ("scores",), take, lambda found: concepts.flow(found["scores"]), shows)


def _numbers(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return table.assign(**{name: pd.to_numeric(table[name]) for name in columns})


PICTURES = {
    "rankings": of_study(
        "embedded", "rankings", overall, lambda found: list(found["rankings"]["rank"].dropna())
    ),
    "correlations": of_study("embedded", "correlations", of_method, correlations_shown),
    "rank-intervals": of_study("embedded", "rank-intervals", overall, ranks_shown),
    "shuffled": of_study("frequency", "shuffled-gender-career", only(query_id="career"), shares_shown),
    "quality-ranks": of_study("embedded", "quality-ranks", overall, quality_shown),
    "query-ranks": of_study(
        "kinds", "query-ranks-gender", only(criterion="Gender", method="spearman"), query_ranks_shown
    ),
    "query-ranks-weat": of_study(
        "kinds", "query-ranks-weat", only(criterion="WEAT", method="spearman"), query_ranks_shown
    ),
    "trade-off": of_study("debias", "trade-off-gender", of_gender, trade_off_shown),
    "hidden-bias": of_study("debias", "hidden-bias-gender", of_gender, hidden_shown),
    "properties": of_properties(matrix, False, verdicts_shown),
    "counterexamples": of_properties(counterexamples, True, examples_shown),
    "ranges": of_properties(ranges, True, ranges_shown),
    "simulation-p-values": simulated_p_values(),
    "simulation-coverage-expected": simulated("_covers_expected"),
    "simulation-calibration": calibrated(),
    "simulation-frequency-tests": frequency_tested("training"),
    "simulation-frequency-metrics": frequency_tested("metric"),
    "factory-truth-mean": planted("truth-ppmi", "mean"),
    "factory-truth-sd": planted("truth-ppmi", "sd"),
    "factory-truth-absolute": planted("truth-ppmi", "absolute"),
    "factory-words": planted("words"),
    "planted-gate": of_models("gate", claim_plots.gate, lambda table: list(table["gate"])),
    "planted-words": planted("words", study="planted_bert"),
    "planted-words-unmasking": planted("words-unmasking", against="unmasking", study="planted_bert"),
    "planted-truth-mean": planted("truth-bert-unmasking", "mean", "unmasking", "planted_bert"),
    "planted-truth-sd": planted("truth-bert-unmasking", "sd", "unmasking", "planted_bert"),
    "planted-truth-absolute": planted("truth-bert-unmasking", "absolute", "unmasking", "planted_bert"),
    "planted-directions": of_models("directions", claim_plots.directions, directions_shown),
    "planted-example": of_models("example", claim_plots.example, example_shown),
    "planted-claims": of_models(
        "claims",
        claim_plots.claims,
        lambda table: [typeset(value) for value in table["value"].dropna()],
        [column.name for column in CLAIMS.columns if column.dtype == "text"],
    ),
    "planted-downstream": of_models(
        "downstream",
        claim_plots.downstream,
        lambda table: table[["value", "low", "high"]].to_numpy().ravel().tolist(),
        [column.name for column in CLAIMS.columns if column.dtype == "text"],
    ),
    "concepts": drawing_of_concepts(),
    "gallery-agreement-widths": of_study(
        "thesis4",
        "agreement-widths-robustness",
        only(criterion="Robustness"),
        lambda found: [*found["agreement_widths"]["agreement"], *found["agreement_widths"]["chance"]],
        small=True,
    ),
    "gallery-analogies": of_study(
        "thesis",
        ANALOGIES,
        first_answers,
        lambda found: [answer.replace("_", " ") for answer in found["analogies"]["answer"][:9]],
        small=True,
    ),
    "gallery-bars-by-query": of_study(
        "embedded",
        "bars-by-query-gender",
        only(criterion="Gender", metric=["weat", "weat_es"]),
        numbers_of("scores", "value"),
        listed="bars-by-query",
        small=True,
    ),
    "gallery-bars-by-model": of_study(
        "embedded",
        "bars-by-model-gender",
        only(criterion="Gender", metric=["weat", "weat_es"]),
        numbers_of("scores", "value"),
        listed="bars-by-model",
        small=True,
    ),
    "gallery-before-after": of_study(
        "debias",
        "before-after-gender",
        only(criterion="Gender", group="metric", model=["word2vec-google-news-300-subset"]),
        before_after_shown,
        small=True,
    ),
    "gallery-comparison": of_study(
        "same", "comparison-same", only(metric="same"), numbers_of("comparison", "ours"), small=True
    ),
    "gallery-directions": of_study(
        "same",
        "directions-occupations",
        only(),
        lambda found: [f"{angle:.1f}°" for angle in found["directions"]["angle"]],
        small=True,
    ),
    "gallery-influence": of_study(
        "embedded",
        "influence-gender-weat_es",
        most_influential,
        influence_shown,
        listed="influence",
        small=True,
    ),
    "gallery-null": of_study(
        "embedded",
        "null/glove-6b-50d/none/weat/gender_1",
        null_values,
        null_shown,
        null="glove-6b-50d/none/weat/gender_1",
        suffix=".npz",
        small=True,
    ),
    "gallery-order": of_study(
        "embedded",
        "order",
        only(criterion=OVERALL, resampled="both", metric=["rnd", "weat"]),
        order_shown,
        listed="order",
        small=True,
    ),
    "gallery-pair-differences": of_study(
        "thesis4",
        "pair-differences-robustness",
        pairs_of("interval_cp", "difference", 2),
        differences_shown,
        suffix=".json",
        small=True,
    ),
    "gallery-phenomena": of_study(
        "thesis", "phenomena-gender-of-30-phenomena", of_phenomena, means_shown, small=True
    ),
    "gallery-covariates": of_study(
        "thesis", "covariates-gender-of-30-phenomena", own_covariates, covariates_shown, small=True
    ),
    "gallery-phenomenon-correlations": of_study(
        "thesis",
        "phenomena-gender-of-30-phenomena-and-frequency",
        of_phenomena,
        frequency_shown,
        small=True,
    ),
    "gallery-professions": of_study(
        "bolukbasi",
        "professions-professions-bolukbasi-w2v-gnews-small",
        extremes,
        extremes_shown,
        suffix=".json",
        small=True,
    ),
    "gallery-projections": of_study(
        "same",
        "projections/bolukbasi-w2v-gnews-small/none/same/occupations",
        words_of("projections/bolukbasi-w2v-gnews-small/none/same/occupations"),
        projections_shown,
        small=True,
    ),
    "gallery-rankings-by-criterion": of_study(
        "embedded", "rankings-by-criterion", only(), numbers_of("rankings", "rank"), small=True
    ),
    "gallery-ratings": of_study(
        "same",
        "ratings/bolukbasi-w2v-gnews-small/none/same/occupations",
        words_of("ratings/bolukbasi-w2v-gnews-small/none/same/occupations"),
        ratings_shown,
        small=True,
    ),
    "gallery-score-distributions": of_study(
        "thesis4",
        "score-distributions-spanish-crows-pairs",
        pairs_of("distributions_cp", "score", 1),
        distributions_shown,
        suffix=".json",
        small=True,
    ),
    "gallery-scores": of_study(
        "embedded",
        "scores-gender",
        only(criterion="Gender", metric=["mac", "weat", "weat_es"]),
        numbers_of("scores", "value"),
        small=True,
    ),
    "gallery-seed-lists": of_study(
        "seed_lists",
        "seed-lists-seed-lists-gender-words-with-career-and-family",
        of_lists,
        lambda found: list(found["scores"]["value"]),
        small=True,
    ),
    "gallery-seed-pairs": of_study(
        "seed_lists",
        "seed-pairs-seed-lists-pairs-of-bolukbasi-et-al-word2vec-google-news-300-subset",
        only(list="pairs of Bolukbasi et al."),
        lambda found: list(
            found["seed_pairs"][["cosine", "cosine_others", "share_others"]].to_numpy().ravel()
        ),
        small=True,
    ),
    "gallery-sentiment": of_study(
        "sweeney",
        "sentiment-sweeney-and-najafian-2019",
        sentiments,
        sentiments_shown,
        suffix=".json",
        small=True,
    ),
    "gallery-trainings": of_study(
        "trainings",
        "trainings-gender-career-word2vec",
        of_trainings,
        lambda found: list(found["scores"]["value"]),
        small=True,
    ),
    "gallery-weat-table": of_study(
        "caliskan",
        "weat-table-caliskan-et-al-2017",
        only(criterion="Caliskan et al. 2017"),
        weat_shown,
        small=True,
    ),
    "gallery-word-map": of_study(
        "debias",
        "word-map-gender-word2vec-google-news-300-subset",
        maps("none", "gender-hard"),
        word_maps_shown,
        suffix=".json",
        small=True,
    ),
    "gallery-word-set-map": of_study(
        "thesis",
        "word-set-map-religion-word2vec-google-news-300-subset",
        set_map,
        set_map_shown,
        suffix=".json",
        small=True,
    ),
}


def main(stems: list[str]) -> int:
    """Take the tables from the results, and draw the pictures from them; returns the exit code."""
    for stem in stems or PICTURES:
        if stem not in PICTURES:
            print(f"no picture {stem!r}; allowed are {', '.join(PICTURES)}", file=sys.stderr)
            return 2
        picture = PICTURES[stem]
        try:
            found = picture.take()
        except (OSError, BiasgridError) as error:
            print(f"{stem}: {' '.join(str(error).split())} ({picture.command})", file=sys.stderr)
            return 2
        for name, file in picture.files(stem).items():
            write_bytes(file, FORMATS[picture.suffix][1](found[name]))
        # as a test draws it again: from the files
        picture.save(picture.draw(picture.read(stem)), stem)
    gallery.PAGE.write_text(gallery.page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
