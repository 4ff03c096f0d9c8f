"""How scores spread over models that were trained with other parameters: the table by arithmetic, the figure, what is
refused."""

import copy
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from artists import marks_of, texts
from biasgrid_plugin_training.tables.trainings import TRAININGS
from conftest import ROOT, text
from in_process import make_all
from refusals import refused

from biasgrid import tables
from biasgrid.figures import draw
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow  # a study is run first
PARAMS = {"vector_size": 4, "window": 3, "min_count": 1, "epochs": 1, "seed": 1, "sg": 1}
SEEDS = ["base", "seed-2", "seed-3", "seed-4"]


def trained(key, algorithm="word2vec", corpus="letters", **params):
    given = {k: v for k, v in (PARAMS | params).items() if k != "sg" or algorithm != "glove"}
    source = {"type": "trained", "corpus": corpus, "algorithm": algorithm, "params": given}
    return {key: {"label": f"Model {key}", "source": source}}


def config():
    models = {}
    for seed in (2, 3, 4):
        models |= trained(f"seed-{seed}", seed=seed)
    models = (
        trained("base")
        | models
        | trained("near", window=1)
        | trained("far", window=9)
        | trained("glove", "glove")
    )
    words = {letter: [f"{letter}{i}" for i in range(5)] for letter in "abcd"}
    query = {
        "targets": {"A": words["a"], "B": words["b"]},
        "attributes": {"C": words["c"], "D": words["d"]},
    }
    return {
        "study": "small",
        "plugins": ["training"],
        "corpora": {"letters": {"source": {"type": "file", "path": "letters.txt"}}},
        "models": models,
        "trainings": {
            "word2vec": {
                "base": "base",
                "vary": {"seed": SEEDS[1:], "window": ["near", "far"], "algorithm": ["glove"]},
            }
        },
        "criteria": {"First": {"ranked": False, "queries": {"one": query}}},
        "metrics": {"weat": {}, "rnd": {}},
        "inference": {"bootstrap": {"draws": 20}},
        "figures": ["trainings"],
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with chdir(tmp_path_factory.mktemp("trainings")):
        Path("letters.txt").write_text(text(2000))
        yield make_all(Study.of(config()))


def test_the_table_by_arithmetic(study):
    table = tables.read(study.paths.table_file("trainings"))
    scores = (
        tables.read(study.paths.table_file("scores"))
        .set_index(["metric", "query", "model"])["value"]
        .sort_index()
    )
    intervals = tables.read(study.paths.table_file("intervals")).query("kind == 'bca'")
    errors = intervals.set_index(["metric", "query", "model"])
    # WEAT takes the query as it is, RND has a sub-query per attribute set
    assert len(table) == 3 * (1 + 2)
    of = {"seed": SEEDS, "window": ["base", "near", "far"], "algorithm": ["base", "glove"]}
    for row in table.itertuples():
        values = scores[row.metric, row.query][of[row.parameter]].to_numpy()
        assert (row.models, row.models_lost) == (len(values), 0)
        assert [row.mean, row.sd] == pytest.approx([values.mean(), np.std(values, ddof=1)])
        assert [row.min, row.max] == [values.min(), values.max()]
        names = of[row.parameter]
        assert [row.lowest, row.highest] == [names[values.argmin()], names[values.argmax()]]
        # of both metrics 0 is neutral
        assert row.other_side == (np.sign(values) == -np.sign(values.mean())).sum()
        squares = [
            errors.loc[(row.metric, row.query, key), "standard_error"] ** 2 for key in of[row.parameter]
        ]
        assert row.standard_error == pytest.approx(np.sqrt(np.mean(squares)))
        seeds = scores[row.metric, row.query][SEEDS].to_numpy()
        assert row.sd_seeds == pytest.approx(np.std(seeds, ddof=1))
        # tables of Student's t with 3 degrees of freedom: 3.182 leaves 2.5 % above
        reach = 3.18245 * np.std(seeds, ddof=1) * np.sqrt(1 + 1 / 4)
        ends = [seeds.mean() - reach, seeds.mean() + reach]
        assert [row.seeds_low, row.seeds_high] == pytest.approx(ends, rel=1e-5)
        if row.parameter == "seed":
            assert np.isnan([row.ratio, row.beyond_seeds]).all()
        else:
            assert row.ratio == pytest.approx(row.sd / row.sd_seeds)
            assert row.beyond_seeds == sum(not ends[0] <= value <= ends[1] for value in values)


def test_models_without_a_value_and_trainings_without_seeds(study, tmp_path):
    path = tmp_path / "scores.csv"
    scores = pd.read_csv(study.paths.table_file("scores"), keep_default_na=False, dtype="str")
    scores.loc[scores["model"].isin(["near", "seed-2", "seed-3", "seed-4"]), "value"] = ""
    scores.to_csv(path, index=False, lineterminator="\n")
    made = TRAININGS.frame({"scores": path}, TRAININGS.spec_of(study)).set_index("parameter")
    assert set(made.loc["window", "models"]) == {2}
    assert set(made.loc["window", "models_lost"]) == {1}
    # of the seeds one is left, which has no deviation
    assert set(made.loc["seed", "models"]) == {1}
    assert made[["sd_seeds", "ratio", "seeds_low", "beyond_seeds", "standard_error"]].isna().all(axis=None)
    assert made.loc["window", "sd"].notna().all()
    without = config()
    del without["trainings"]["word2vec"]["vary"]["seed"], without["inference"]
    plain = Study.of(without)
    assert set(plain.tables["trainings"]) == {"scores"}
    made = TRAININGS.frame({"scores": study.paths.table_file("scores")}, TRAININGS.spec_of(plain))
    assert set(made["parameter"]) == {"window", "algorithm"}
    assert made[["sd_seeds", "ratio", "seeds_low", "beyond_seeds"]].isna().all(axis=None)


def test_the_figure_has_every_model(study):
    (name,) = study.figures
    assert name == "trainings-first-one-word2vec"
    figure = draw(study.figures[name])
    assert {"seeds", "window 1", "window 9", "GloVe", "WEAT", "RND: C", "RND: D"} <= set(texts(figure))
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == "WEAT")
    marks = [place for _, place in marks_of(panel)]
    scores = (
        tables.read(study.paths.table_file("scores")).query("metric == 'weat'").set_index("model")["value"]
    )
    rows = dict.fromkeys(SEEDS, 0) | {"near": 1, "far": 2, "glove": 3}
    assert sorted(marks) == sorted((scores[model], row) for model, row in rows.items())


READ = """
import biasgrid as bg
from biasgrid.core.registry import PLUGINS

grid = bg.open_study("results/small")
print([len(grid.frame(name)) for name in ("scores", "trainings")], grid.study.trained_models, len(PLUGINS))
"""


def test_results_are_read_without_the_plugin(study):
    """In a process that has loaded none."""
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=study.results.absolute().parents[1],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.stdout == f"[{3 * len(study.models)}, 9] {study.trained_models} 0\n", done.stderr


def test_a_study_without_trainings_has_neither():
    plain = config()
    del plain["trainings"]
    study = Study.of(plain | {"figures": []})
    assert "trainings" not in study.tables
    assert study.config.trainings is None


def change(**keys):
    changed = copy.deepcopy(config())
    changed["trainings"]["word2vec"] |= keys
    return changed


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"base": "bse"}, "trainings: word2vec: base: unknown model 'bse'; did you mean 'base'"),
        ({"base": "file"}, "trainings: word2vec: base: file is not trained here"),
        ({"vary": {"windw": ["near"]}}, "vary: windw: unknown parameter 'windw'; did you mean 'window'"),
        ({"vary": {"window": ["seed-2"]}}, "vary: window: seed-2 has the window of the base, base"),
        ({"vary": {"window": ["base"]}}, "vary: window: base has the window of the base"),
        (
            {"vary": {"window": ["both"]}},
            "vary: window: both differs from the base, base, also in seed; it must differ in window alone",
        ),
        ({"vary": {"window": ["elsewhere"]}}, "vary: window: elsewhere differs from the base, base, also in corpus"),
        ({"vary": {"window": ["glove"]}}, "vary: window: glove has the window of the base"),
        ({"vary": {"algorithm": ["big"]}}, "vary: algorithm: big differs from the base, base, also in vector_size"),
        ({"vary": {"window": ["near", "near"]}}, "duplicate 'near'"),
        ({"vary": {"window": []}}, "trainings: word2vec: vary: window"),
        ({"vary": {}}, "trainings: word2vec: vary"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(keys, says):
    wrong = change(**keys)
    wrong["corpora"]["others"] = {"source": {"type": "file", "path": "others.txt"}}
    wrong["models"] |= trained("both", window=9, seed=7) | trained("big", "glove", vector_size=8)
    wrong["models"] |= trained("elsewhere", corpus="others", window=9)
    wrong["models"]["file"] = {"label": "File", "source": {"type": "file", "path": "one.txt"}}
    with refused(says):
        Study.of(wrong)


def test_an_algorithm_without_a_seed_may_be_compared():
    more = change(vary={"algorithm": ["glove", "ppmi"]})
    more["models"] |= trained("ppmi", "ppmi")
    for name in ("seed", "sg", "epochs"):
        del more["models"]["ppmi"]["source"]["params"][name]
    assert "ppmi" in Study.of(more).trained_models


def test_the_shipped_study_varies_one_parameter_at_a_time():
    study = Study.read(ROOT / "config" / "trainings.yaml", ROOT)
    assert "trainings" in study.tables
    for training in study.config.trainings.values():
        assert len(training.vary["seed"]) >= 4
        assert {"vector_size", "window", "epochs", "min_count"} <= training.vary.keys()
    named = {key for t in study.config.trainings.values() for keys in t.vary.values() for key in keys}
    bases = {training.base for training in study.config.trainings.values()}
    assert named | bases == set(study.trained_models)
    # a corpus has no vectors whose quality there would be
    assert {evaluation.model for evaluation in study.grid.quality.values()} == set(study.trained_models)
