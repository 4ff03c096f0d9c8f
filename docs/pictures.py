"""Every picture of README and docs, and beside it the tables that it is drawn from: `make pictures`.

A picture `images/<stem>.png` is drawn from `images/<stem>.csv` (of several tables, the others are
`images/<stem>.<table>.csv`) and the study's config alone. The tables are the rows of results that it shows, so that a
test can draw it again (tests/test_pictures.py). To add a picture, add an entry to PICTURES.

    python docs/pictures.py [STEM ...]      takes the tables from results/ and draws; without a stem, all of them
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biasgrid import figures, metrics, properties, tables
from biasgrid.errors import BiasgridError
from biasgrid.factory import Factory
from biasgrid.figures.factory import against_truth, word_level
from biasgrid.figures.layout import save
from biasgrid.figures.simulation import coverage, p_values, shares
from biasgrid.files import write_text
from biasgrid.properties.figures import counterexamples, matrix
from biasgrid.simulation import Simulation
from biasgrid.statistics.aggregation import OVERALL
from biasgrid.study import Study

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
Tables = Mapping[str, pd.DataFrame]


def read(name: str, file: Path) -> pd.DataFrame:
    """A table of a study by its declared columns; another one (of a simulation, say) by what stands in it."""
    declared = tables.REGISTRY.get(name)
    if declared and set(declared.names) <= set(pd.read_csv(file, nrows=0).columns):
        return declared.read(file)
    table = pd.read_csv(file, keep_default_na=False, na_values=[""], float_precision="round_trip")
    texts = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    return table.fillna(dict.fromkeys(texts, ""))


@dataclass(frozen=True)
class Picture:
    """A picture of the docs.

    command  what makes the results that its tables are taken from
    names    of its tables
    take     the tables by name, from these results
    draw     the figure, from the tables
    shows    from the tables, numbers that stand in the figure: as places of marks, or, if text, written
    """

    command: str
    names: tuple[str, ...]
    take: Callable[[], Tables]
    draw: Callable[[Tables], Figure]
    shows: Callable[[Tables], list]

    def files(self, stem: str) -> dict[str, Path]:
        """Where its tables lie."""
        first, *others = self.names
        return {first: IMAGES / f"{stem}.csv"} | {name: IMAGES / f"{stem}.{name}.csv" for name in others}

    def read(self, stem: str) -> Tables:
        """Its tables as they lie beside it."""
        return {name: read(name, file) for name, file in self.files(stem).items()}


def of_study(
    config: str,
    figure: str,
    rows: Callable[[Study, pd.DataFrame], pd.DataFrame],
    shows: Callable[[Tables], list],
) -> Picture:
    """A picture that is a figure of a study, from some rows of its tables."""
    study = _study(config)
    drawing = study.figures[figure]

    def take() -> Tables:
        return {name: rows(study, table) for name, table in _results(config, *drawing.inputs).items()}

    def draw(found: Tables) -> Figure:
        # as the study draws it, but from these tables
        with tempfile.TemporaryDirectory() as folder:
            inputs = {name: Path(folder) / f"{name}.csv" for name in drawing.inputs}
            for name, file in inputs.items():
                write_text(file, found[name].to_csv(index=False, lineterminator="\n"))
            return figures.draw(replace(drawing, inputs=inputs))

    names = tuple(drawing.inputs)
    return Picture("make " + {"embedded": "study"}.get(config, config), names, take, draw, shows)


@cache
def _study(config: str) -> Study:
    return Study.read(ROOT / "config" / f"{config}.yaml", ROOT)


def _results(folder: str, *names: str) -> Tables:
    return {name: read(name, ROOT / "results" / folder / f"{name}.csv") for name in names}


def overall(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["criterion"] == OVERALL] if "criterion" in table else table


def of_method(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["method"] == study.config["correlations"][0]]


def of_gender(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    return table[table["criterion"] == "Gender"]


def ranks_shown(found: Tables) -> list:
    ranks = found["rank_intervals"]
    words, queries = (ranks[ranks["resampled"] == name] for name in ("words", "queries"))
    return [
        *words["rank"],
        *words[["low", "high"]].to_numpy().ravel(),
        *queries[["low", "high"]].to_numpy().ravel(),
    ]


def quality_shown(found: Tables) -> list[str]:
    ranks = pd.concat([found["rankings"]["rank"], found["quality"]["common_rank"]])
    return [f"{rank:g}" for rank in ranks.dropna()]


def correlations_shown(found: Tables) -> list[str]:
    return [written(value) for value in found["correlations"]["correlation"].dropna()]


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
    return [*hidden[["before", "after"]].to_numpy().ravel(), *map(written, hidden["after"].dropna())]


STEPS = 200  # of the axis of p-values, on which a picture has some 400 pixels


def simulation() -> Simulation:
    return Simulation.read(ROOT / "config" / "simulation.yaml")


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
        for cell in simulation().cells.values():
            record = json.loads((ROOT / simulation().cell_file(cell)).read_text(encoding="utf-8"))
            # no counts of a metric without a test
            place = np.ceil(np.array(record["null"].get("uniform", [])) * STEPS).clip(1, STEPS).astype(int)
            counts = np.bincount(place, minlength=STEPS + 1)[1:] if len(place) else []
            rows.append((cell.metric, cell.words, cell.bias, " ".join(map(str, counts))))
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


def factory() -> Factory:
    return Factory.read(ROOT / "config" / "factory.yaml")


def planted(name: str) -> Picture:
    """A figure of the planted-bias benchmark, which has its table beside it: a column per metric."""
    settings = ["trainer", "vectors", "truth"]

    def truths() -> dict[str, str]:
        return {key: entry["truth"] for key, entry in factory().config["metrics"].items()}

    def read(found: Tables) -> pd.DataFrame:
        return _numbers(found[name], *found[name].columns.difference(settings))

    def take() -> Tables:
        return _results("factory/figures", name)

    def draw(found: Tables) -> Figure:
        if name == "words":
            return word_level(read(found), factory().labels)
        return against_truth(read(found), factory().labels, truths())

    def shows(found: Tables) -> list[float]:
        table, shown = read(found), []
        for metric in table.columns.intersection(list(truths())):
            known = table[table[metric].notna()]
            shown += [*known[metric], *([] if name == "words" else known[f"true_{truths()[metric]}"])]
        return shown

    return Picture("make factory", (name,), take, draw, shows)


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


def written(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")


def _numbers(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return table.assign(**{name: pd.to_numeric(table[name]) for name in columns})


PICTURES = {
    "rankings": of_study(
        "embedded", "rankings", overall, lambda found: list(found["rankings"]["rank"].dropna())
    ),
    "correlations": of_study("embedded", "correlations", of_method, correlations_shown),
    "rank-intervals": of_study("embedded", "rank-intervals", overall, ranks_shown),
    "quality-ranks": of_study("embedded", "quality-ranks", overall, quality_shown),
    "trade-off": of_study("debias", "trade-off-gender", of_gender, trade_off_shown),
    "hidden-bias": of_study("debias", "hidden-bias-gender", of_gender, hidden_shown),
    "properties": of_properties(matrix, False, verdicts_shown),
    "counterexamples": of_properties(counterexamples, True, examples_shown),
    "simulation-p-values": simulated_p_values(),
    "simulation-coverage-expected": simulated("_covers_expected"),
    "simulation-calibration": calibrated(),
    "factory-truth": planted("truth-ppmi"),
    "factory-words": planted("words"),
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
            write_text(file, found[name].to_csv(index=False, lineterminator="\n"))
        # as a test draws it again: from the files
        save(picture.draw(picture.read(stem)), IMAGES / stem, ["png"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
