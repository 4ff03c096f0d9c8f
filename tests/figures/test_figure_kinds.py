"""A kind of figure is one file: discovered, planned without matplotlib, drawn from files and a spec, the same bytes
whatever was drawn before."""

import copy
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import artists
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import test_comparison_figure
import test_figures
import test_inference_figures
import test_mitigation_figures
import test_weat_table
from biasgrid_plugin_maddalozzo.figures.agreement_widths import agreement_widths
from biasgrid_plugin_maddalozzo.figures.pair_differences import pair_differences
from biasgrid_plugin_maddalozzo.figures.phenomena import phenomena
from biasgrid_plugin_maddalozzo.figures.phenomenon_correlations import phenomenon_correlations
from biasgrid_plugin_maddalozzo.figures.score_distributions import score_distributions
from biasgrid_plugin_maddalozzo.figures.word_set_map import word_set_map
from biasgrid_plugin_maddalozzo.tables.phenomenon_correlations import PHENOMENON_CORRELATIONS
from conftest import ROOT, grid_config
from reruns import append, planned

from biasgrid import BiasgridError, figures, metrics
from biasgrid import registry as registries
from biasgrid.figures import Drawing
from biasgrid.figures.analogies import analogies
from biasgrid.figures.bars import bars
from biasgrid.figures.comparison import comparison
from biasgrid.figures.covariates import covariates
from biasgrid.figures.directions import directions
from biasgrid.figures.influence import influence
from biasgrid.figures.layout import EXTENSIONS, save
from biasgrid.figures.null import facts, null_distribution
from biasgrid.figures.order import order
from biasgrid.figures.professions import professions
from biasgrid.figures.projections import projections
from biasgrid.figures.quality_ranks import quality_ranks
from biasgrid.figures.query_ranks import query_ranks
from biasgrid.figures.rank_intervals import rank_intervals
from biasgrid.figures.ratings import ratings
from biasgrid.figures.seed_lists import seed_lists
from biasgrid.figures.seed_pairs import seed_pairs
from biasgrid.figures.sentiment import COLUMNS, sentiment
from biasgrid.figures.shuffled import shuffled_text
from biasgrid.figures.trainings import trainings
from biasgrid.figures.weat_table import weat_table
from biasgrid.inference.null import Null
from biasgrid.plan.code import closure
from biasgrid.study import Study
from biasgrid.tables.covariates import COVARIATES

CONFIGS = [
    "kinds",
    "bolukbasi",
    "caliskan",
    "debias",
    "embedded",
    "frequency",
    "same",
    "seed_lists",
    "sweeney",
    "thesis",
    "thesis4",
]
CONFIGS += ["trainings", "wefe_documentation"]
TOY = """
from biasgrid.figures import Drawing, Figure
from biasgrid.figures.layout import blank, styled


def _drawings(grid):
    yield Drawing({name!r}, {{"scores": grid.results / "scores.csv"}}, {{"title": grid.name}})


@styled
def _draw(inputs, spec):
    figure = blank(2, 1)
    figure.text(0.5, 0.5, f"{{spec['title']}}: {{len(inputs['scores'].read_text().splitlines()) - 1}} scores")
    return figure


FIGURES = (Figure({kind!r}, "How many scores there are.", _drawings, _draw),)
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Loads a toy kind of figure from a user's file; it is forgotten after the test."""
    monkeypatch.setattr(registries, "PLUGINS", {})
    for part in ("_entries", "_modules", "_read"):
        monkeypatch.setattr(figures.REGISTRY, part, copy.copy(getattr(figures.REGISTRY, part)))
    list(figures.REGISTRY)
    before = set(sys.modules)

    def load(file, **names):
        (tmp_path / f"{file}.py").write_text(TOY.format(**names))
        registries.load_plugins([tmp_path / f"{file}.py"])

    yield load
    for name in set(sys.modules) - before:
        if name.startswith("biasgrid_plugin_"):
            del sys.modules[name]


@pytest.mark.slow
def test_a_plan_imports_no_matplotlib_and_no_pandas():
    script = """if True:
        import sys
        from biasgrid.study import Study
        study = Study.read("config/embedded.yaml")
        assert study.figures
        print(*{name.partition(".")[0] for name in sys.modules})
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"matplotlib", "seaborn", "pandas", "scipy"}.isdisjoint(done.stdout.split())


@pytest.mark.slow
def test_what_figures_are_drawn_from_are_files_and_json():
    """Of the shipped studies, which have figures of nearly every kind."""
    kinds = set()
    for config in CONFIGS:
        study = Study.read(ROOT / "config" / f"{config}.yaml", ROOT)
        files = {
            *study.comparison_files,
            *(entry["ratings"]["file"] for entry in study.config["criteria"].values() if "ratings" in entry),
        }
        kinds |= {"null"} if study.config["null_distributions"] else set()
        for name, drawing in study.figures.items():
            assert drawing.name == name
            kinds.add(drawing.kind)
            # what a process gets that reads it as text, sorted
            assert json.loads(json.dumps(drawing.spec, sort_keys=True, allow_nan=False)) == drawing.spec
            paths = [p for f in drawing.inputs.values() for p in (f if isinstance(f, list) else [f])]
            assert paths
            assert all(study.results in path.parents or str(path) in files for path in paths)
    assert kinds <= set(figures.REGISTRY)
    assert set(figures.REGISTRY) - kinds <= {
        "influence",
        "order",
        "comparison",
        "bars-by-query",
        "bars-by-model",
    }, "a config of config/ lists each kind of figure, so that its picture is drawn from results"


def test_every_kind_says_what_it_shows():
    for name, kind in figures.REGISTRY.items():
        assert kind.name == name
        assert kind.meaning.endswith(".")
        assert kind.meaning[0].isupper()
    drawn_by = {name: closure(figures.REGISTRY.module(name)) for name in figures.REGISTRY}
    # what reads the records of evaluations is code of a figure, too
    record = {name for name, code in drawn_by.items() if "biasgrid.evaluation.record" in code}
    assert {"professions", "word-map", "word-set-map"} <= record
    assert "biasgrid.tables.words" in drawn_by["projections"]
    assert "biasgrid.figures.palette" in drawn_by["rankings"]
    # but not who plans it, and no other kind
    assert not any("biasgrid.study" in code for code in drawn_by.values())
    assert "biasgrid.figures.scores" not in drawn_by["rankings"]


def test_a_label_is_in_the_figures_that_show_it(root):
    config = grid_config() | {"figures": ["rankings", "correlations", "scores"]}
    before = Study.of(config, root=root).figures

    def changed():
        after = Study.of(config, root=root).figures
        return {name for name in after if after[name].spec != before[name].spec}

    config["models"]["two"]["label"] = "Renamed"
    assert changed() == {"rankings", "scores-first", "scores-second"}
    config["models"]["two"] |= {"label": "Model two", "note": "measured twice"}
    assert changed() == set()
    config["criteria"]["Second"]["ranked"] = False
    before = Study.of(config, root=root).figures
    config["criteria"]["Second"]["metrics"] = {"weat": {"label": "The metric"}}
    assert changed() <= {"scores-second"}


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        (
            ["ranking"],
            "unknown kind of figure 'ranking'; did you mean 'rankings'?",
        ),
        (["word-map"], "unknown kind of figure 'word-map'; did you mean 'word-set-map'?"),
        (["null"], "unknown kind of figure 'null'"),
        (["order"], "figures: 'order' needs inference with a bootstrap; leave it out"),
    ],
)
def test_a_figure_that_a_study_cannot_have_is_one_line(root, listed, says):
    with pytest.raises(BiasgridError) as caught:
        Study.of(grid_config() | {"figures": listed}, root=root)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_users_file_is_a_kind_of_figure(plugin, root, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    plugin("counted", kind="counted", name="counted")
    study = Study.of(grid_config() | {"figures": ["counted", "rankings"]}, root=root)
    assert list(study.figures) == ["counted", "rankings"]
    drawing = study.figures["counted"]
    assert drawing == Drawing(
        "counted",
        {"scores": study.results / "scores.csv"},
        {"title": "small"},
        "counted",
        order=figures.order_of(study.config),
    )
    study.results.mkdir(parents=True)
    drawing.inputs["scores"].write_text("value\n1\n2\n")
    files = figures.draw_file("counted", drawing.inputs, drawing.spec, tmp_path / "drawn")
    assert [Path(file).suffix for file in files] == [f".{extension}" for extension in EXTENSIONS]
    assert [text.get_text() for text in figures.draw(drawing).texts] == ["small: 2 scores"]
    module = figures.REGISTRY.module("counted")
    assert sys.modules[module].__file__ == str(tmp_path / "counted.py")
    assert module in closure(module)


def test_two_figures_of_one_name_are_refused(plugin, root):
    plugin("doubled", kind="doubled", name="rankings")
    with pytest.raises(BiasgridError, match="figures: doubled: another figure is named 'rankings'"):
        Study.of(grid_config() | {"figures": ["rankings", "doubled"]}, root=root)


@pytest.mark.slow
def test_a_new_kind_of_figure_is_one_file(finished):
    module = finished.folder / "src" / "biasgrid" / "figures" / "toy.py"
    module.write_text(TOY.format(kind="toy", name="toy/scores"))
    finished.config["figures"] = ["toy"]
    finished.configure(finished.config)
    finished.run()
    drawn = finished.folder / "results/small/figures/toy"
    assert sorted(path.name for path in drawn.iterdir()) == ["scores.pdf", "scores.png", "scores.svg"]
    append(module)
    assert planned(finished) == {"figure": {"figures/toy/scores.pdf"}}


def makers():
    """What draws a figure of each kind, with little in it."""
    few = dict(list(artists.PUBLISHED.items())[:2])
    rng = np.random.default_rng(0)
    words = pd.DataFrame({"word": [f"w{i}" for i in range(30)], "value": rng.normal(size=30)})
    words["rating"] = words["value"] + rng.normal(size=30)
    ranks = test_inference_figures.rank_tables([2, 1, 3], 0.5, "ab", {"ab": 0.5})
    place = {"criterion": "Gender", "query": "Q", "metric": "weat", "model": "a", "debias": "none"}
    leaves = pd.DataFrame([place | {"set": "S", "word": f"w{i}", "influence": i / 9} for i in range(4)])
    angle = {"direction_a": "pca", "direction_b": "mean", "angle": 12.5}
    correlated = {"of": "words", "covariate": "log_frequency", "method": "spearman", "source": "rank"}
    correlated |= {"correlation": 0.5, "ci_low": 0.2, "ci_high": 0.8}
    shares = [
        {"id": "q", "query": "Q", "set": n, "word": n, "share": 0.5, "value": 0.1, "status": "ok"}
        for n in "AB"
    ]
    of_texts = [
        {"training": training, "corpus": corpus, "share": share, "share_low": low}
        for training, corpus, share, low in (
            ("T", "a", 0.5, 0.1),
            ("T", "b", 50.0, np.nan),
            ("U", "a", 1, 0.5),
        )
    ]
    by_set = {
        "S": dict(zip("abcd", (1, 2, 4, 8), strict=True)),
        "T": dict(zip("efgh", (2, 1, 3, 9), strict=True)),
    }
    of_cell = place | {"function": "mean_pair_difference", "params": {}}
    of_pairs = of_cell, {"query": "Q", "scalars": {}, "detail": {"score": by_set, "difference": by_set}}
    ends = {"she": [["nurse", 0.3]], "he": [["boss", 0.2]]}
    drawn = {"words": ["w1", "w2"], "side": ["s", "t"], "xy": [[0, 0], [3, 4]]}
    answer = {"criterion": "Gender", "model": "a", "debias": "none", "questions": "mine", "method": "3cosadd"}
    answer |= {"excluded": "no", "pair": "he:she", "word": "boss", "rank": 1, "answer": "boss", "own": "c"}
    summary = {
        key: [answer[key]] for key in ("criterion", "model", "debias", "questions", "method", "excluded")
    }
    test = {"p_value": 0.25, "observed": 0.5, "alternative": "greater", "method": "exact", "draws": 3}
    test |= {"partitions": 3, "p_lowest": 0.25}
    result = {"query": "Q", "status": "ok", "value": 0.5, "permutation": test}
    values = {"Q": {"permutation": np.array([0.5, 0.1, -0.3])}}
    extreme = {"Q": {"permutation": np.array([True, False, False])}}
    published = test_weat_table.table([test_weat_table.row("q1: value", 0.33, 0.33)])
    numbers = ("cosine", "cosine_others", "cosines_with_others", "share_others", "share_best")
    pair = {"criterion": "C", "model": "a", "debias": "none", "list": "mine", "pair": "she:he", "rank": 1.0}
    spread = {
        "criterion": "Gender",
        "concept": "k",
        "part": "C",
        "metric": "weat",
        "model": "a",
        "debias": "none",
    }
    lists = [["one", "Q"], ["two", "R"]]
    of_lists = pd.DataFrame([place | {"query": query, "value": 0.5} for _, query in lists])
    of_queries = test_figures.lose(test_figures.score_table({"weat": ["Q wrt A", "Q wrt B"]}, list(few)), [1])
    return {
        **test_figures.all_figures(),
        **test_mitigation_figures.all_figures(),
        "analogies": lambda: analogies(
            pd.DataFrame([answer]),
            pd.DataFrame(summary | {"measure": ["own_c"], "value": [1.0]}),
            {},
            "Gender",
            "a",
            [["mine", [["he", "she"]], ["boss"]]],
        ),
        "agreement_widths": lambda: agreement_widths(
            pd.DataFrame(
                [place | {"width": w, "agreement": 0.5, "chance": 0.4, "kappa": 0.2} for w in (1.0, 2.0)]
            ),
            *({}, "Gender", [("weat", "a")], {"weat": 0.8}),
        ),
        "bars_by_query": lambda: bars(of_queries, {}, "Gender", {"weat": 0.0}),
        "bars_by_model": lambda: bars(of_queries, {}, "Gender", {"weat": 0.0}, by="model"),
        "comparison": lambda: comparison(test_comparison_figure.whole_study(1, ["a"]), {}, [("q00", "Q")]),
        "covariates": lambda: covariates(
            pd.DataFrame([dict.fromkeys(COVARIATES.names, "") | place | correlated]),
            *({}, "Gender", [("weat", [("a", "none")])], {}),
        ),
        "directions": lambda: directions(pd.DataFrame([place | angle]), {}, "Gender"),
        "influence": lambda: influence(leaves, leaves.head(1).assign(standard_error=0.5), {}, "Gender", "weat"),
        "null": lambda: null_distribution(Null([result], values, extreme, None), "t", facts(metrics.metric("weat"))),
        "order": lambda: order(*ranks[1:], {}),
        "pair_differences": lambda: pair_differences([of_pairs], {}, "Gender"),
        "phenomena": lambda: phenomena(
            pd.DataFrame([place | {"query_id": f"q{i}", "value": i / 3} for i in range(5)]),
            *({}, "Gender", [f"q{i}" for i in range(5)], [("weat", "a", "none")], {"weat": 0.0}),
        ),
        "phenomenon_correlations": lambda: phenomenon_correlations(
            pd.DataFrame(
                [place | {"phenomenon": f"P{i}", "of": "a", "value": i / 3, "number": i + 1.0} for i in range(5)]
            ),
            pd.DataFrame(columns=PHENOMENON_CORRELATIONS.names),
            *({}, "Gender", "frequency", [("weat", "a", "none")], {"weat": 0.0}),
        ),
        "professions": lambda: professions(
            {"projections": ends, "shares": [0.6, 0.4], "random_shares": [0.5, 0.5]},
            [("she", ["nurse"]), ("he", [])],
            "a",
            "C",
        ),
        "projections": lambda: projections(words, ("A", "B"), "title", "note"),
        "quality": lambda: quality_ranks(artists.ranking_table(few), artists.quality_table(few), {}),
        "query_ranks": lambda: query_ranks(
            pd.DataFrame(
                [
                    {"criterion": "C", "template": "2, 1", "query": query, "metric": "rnd", "model": model}
                    | {"debias": "none", "rank": rank, "rank_low": 1.0, "rank_high": 2.0, "queries": 2}
                    for model in "ab"
                    for rank, query in enumerate("xy", 1)
                ]
            ),
            pd.DataFrame(
                [
                    {"criterion": "C", "template": "2, 1", "method": "spearman", "correlation": 0.5}
                    | {f"{side}_{x}": of for x, model in ("aa", "bb") for side, of in
                       (("metric", "rnd"), ("model", model), ("debias", "none"))}
                    | {f"{of}_{end}": 0.1 for of in ("words", "queries") for end in ("low", "high")}
                ]
            ),
            pd.DataFrame(
                [
                    {"criterion": "C", "template": "2, 1", "columns": 2, "n": 2, "p_value": 0.5, "kendalls_w": 0.5}
                    | {f"{of}_{end}": 0.1 for of in ("words", "queries") for end in ("low", "high")}
                ]
            ),
            *({}, "C", "2, 1", [("rnd", model, "none") for model in "ab"]),
        ),
        "rank_intervals": lambda: rank_intervals(ranks[0], *ranks[2:], {}),
        "ratings": lambda: ratings(words, ("A", "B"), {"r": (0.5, 0.1, 0.9), "s": (0.4, 0, 0.8)}, "t", "n", "rating"),
        "score_distributions": lambda: score_distributions([of_pairs], {}, "Gender"),
        "seed_lists": lambda: seed_lists(
            pd.DataFrame([spread | {"sd": 0.1, "ratio": 2.0}]),
            of_lists,
            {},
            "Gender",
            "k",
            {"weat": 0.0},
            [["weat", "C", lists]],
            [name for name, _ in lists],
        ),
        "seed_pairs": lambda: seed_pairs(
            pd.DataFrame([pair | dict.fromkeys(numbers, 0.5)]), {}, "C", "a", "none", "mine"
        ),
        "sentiment": lambda: sentiment(pd.DataFrame([place | s for s in shares], columns=COLUMNS), {}, "C"),
        "shuffled": lambda: shuffled_text(
            pd.DataFrame([place | {"query_id": "k", "share_high": 2.0} | share for share in of_texts]),
            {},
            "Gender",
            "k",
            "title",
            ["T", "U"],
            ["weat"],
            {"Q": ""},
        ),
        "trainings": lambda: trainings(
            pd.DataFrame([place | {"training": "T", "parameter": "seed", "seeds_low": 0.2, "seeds_high": 0.6}]),
            pd.DataFrame([place | {"model": model, "value": 0.5} for model in "abc"]),
            {},
            "Gender",
            "title",
            "T",
            [["seed", [["a", "1"], ["b", "2"]]], ["window", [["a", "5"], ["c", "2"]]]],
            {"weat": 0.0},
            [["weat", "Q", ""]],
        ),
        "weat_table": lambda: weat_table(published, {}, "C", test_weat_table.QUERIES, test_weat_table.METRICS),
        "word_set_map": lambda: word_set_map([("none", drawn)], {}, "Gender", "a", ["s", "t"]),
    }  # fmt: skip


def digests(folder, backwards=False):
    """Of an SVG of each kind, and of one kind's every format: that is a matter of `save` and of no kind."""
    made = makers()
    for name in reversed(made) if backwards else made:
        save(made[name](), folder / name, EXTENSIONS if name == "rankings" else ["svg"])
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.slow
def test_bytes_are_the_same_in_any_order_in_a_fresh_process_and_under_other_settings(tmp_path):
    """And settings and pyplot are left alone."""
    before = dict(matplotlib.rcParams)
    first = digests(tmp_path / "first")
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == []
    says = "makers() has an entry of each kind of figure: what draws one with little in it"
    assert len(first) - 2 == len(makers()) == len(figures.REGISTRY), says
    script = """if True:
        import json, pathlib, sys, matplotlib, test_figure_kinds
        matplotlib.rcParams.update(json.loads(sys.argv[2]))
        print(json.dumps(test_figure_kinds.digests(pathlib.Path(sys.argv[1]), backwards=True)))
    """
    settings = {"font.size": 20, "savefig.bbox": "tight", "svg.fonttype": "none", "axes.facecolor": "red"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "fresh"), json.dumps(settings)],
        cwd=Path(__file__).parent,
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    fresh = json.loads(done.stdout)
    assert fresh.keys() == first.keys()
    assert not [name for name in first if fresh[name] != first[name]]
