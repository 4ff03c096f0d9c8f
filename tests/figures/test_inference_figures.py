"""Uncertainty as it is drawn: intervals, open marks, undecided ranks, words that matter, null distributions."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from artists import METRICS, assert_readable, entries, marks_of, not_laid_out, texts
from conftest import grid_config, refusal
from matplotlib.colors import to_hex
from matplotlib.text import Annotation
from refusals import refused
from test_figures import correlation_table

from biasgrid import Query, metrics
from biasgrid.cli import main
from biasgrid.core.files import write_text
from biasgrid.core.numbers import p_value
from biasgrid.figures import draw
from biasgrid.figures.correlations import correlations
from biasgrid.figures.frame import save
from biasgrid.figures.null import drawing, facts, null_distribution
from biasgrid.figures.rank_intervals import rank_intervals
from biasgrid.measure.null_distributions import Null, write_null
from biasgrid.measure.significance import REGISTRY
from biasgrid.models.store_of import StoreOf
from biasgrid.study import checksums
from biasgrid.study.steps import null_step
from biasgrid.study.study import Study
from biasgrid.tables.pairs import PAIRS
from biasgrid.tables.rank_intervals import RANK_INTERVALS
from biasgrid.tables.rankings import RANKINGS

pytestmark = pytest.mark.slow

INFERENCE = {
    "permutation": {"draws": 200, "exact": 500, "alternative": "bias"},
    "bootstrap": {"draws": 100},
}


def test_without_inference_nothing_changes(tmp_path):
    """Columns that are not there, and columns that are empty: the same bytes."""
    table = correlation_table(METRICS, ["Gender", "Overall"])
    for name, of in {"old": table, "new": table.assign(ci_low=np.nan, ci_high=np.nan)}.items():
        drawn = correlations(of, {})
        save(drawn, tmp_path / name, ["svg"])
        assert not any("interval" in text for text in texts(drawn))
    assert (tmp_path / "old.svg").read_bytes() == (tmp_path / "new.svg").read_bytes()


def test_correlations_have_their_intervals_under_them():
    table = correlation_table(METRICS, ["Overall"]).assign(correlation=0.5, ci_low=0.125, ci_high=1.0)
    table["ci_low"] = np.where(table["metric_a"] < table["metric_b"], -0.5, 0.125)
    table.loc[(table["metric_a"] == "weat") & (table["metric_b"] == "rnd"), ["ci_low", "ci_high"]] = np.nan
    figure = correlations(table, {}, level=0.9)
    written = {
        (int(y), int(x)): " ".join(text.get_text().split())
        for text in figure.axes[0].texts
        if not isinstance(text, Annotation)
        for x, y in [text.get_position()]
    }
    # rows rnsb, weat, weat_es; columns rnd, rnsb, weat: the interval of metric_a, the later one, with metric_b
    expected = {(row, column): ".50 [.12, 1.00]" for row in range(3) for column in range(row + 1)}
    assert written == expected | {(1, 0): ".50"}
    assert "In brackets: the 90 % interval over words" in " ".join(" ".join(texts(figure)).split())
    assert_readable(figure)


def rank_tables(ranks, spread, undecided="", resampled=("words", "queries", "both"), metric="weat", p=0.4):
    """rank_intervals.csv, rankings.csv and pairs.csv of the models a, b, ...

    ranks      of the models; NaN is not ranked: 3 of 9 queries
    spread     intervals of so much on both sides, of queries of twice as much
    undecided  pairs whose order is not decided, such as "ab bc"; their p-value is `p`
    """
    models = [chr(ord("a") + i) for i in range(len(ranks))]
    keys = {"criterion": "Overall", "metric": metric}
    intervals, pairs = [], []
    for name in resampled:
        wide = spread * (1 + (name == "queries"))
        intervals += [
            keys
            | {"model": model, "debias": "none", "resampled": name, "rank": rank, "mean": rank}
            | {"low": max(1, rank - wide), "high": rank + wide, "first": 0.5}
            for model, rank in zip(models, ranks, strict=True)
        ]
    for (a, rank_a), (b, rank_b) in combinations(zip(models, ranks, strict=True), 2):
        pair = keys | {"model_a": a, "debias_a": "none", "model_b": b, "debias_b": "none"}
        is_ranked = rank_a == rank_a and rank_b == rank_b
        difference = rank_a - rank_b
        pairs.append(
            pair
            | {"family": "models", "difference": difference, "low": difference - 1, "high": difference + 1}
            | {
                "p_adjusted": p if a + b in undecided.split() else 0.01,
                "pairs": 1,
                "queries": 9,
                "queries_of": 9,
            }
            | ({"reason": ""} if is_ranked else {"reason": "too few shared queries", "p_adjusted": np.nan})
        )
    rankings = [
        dict.fromkeys(RANKINGS.names, 1)
        | keys
        | {"model": model, "debias": "none", "value_shared": rank, "rank_shared": rank, "queries_of": 9}
        | ({"queries": 9, "reason": ""} if rank == rank else {"queries": 3, "reason": "too few queries"})
        for model, rank in zip(models, ranks, strict=True)
    ]
    return [
        pd.DataFrame(rows, columns=table.names)
        for rows, table in ((intervals, RANK_INTERVALS), (rankings, RANKINGS), (pairs, PAIRS))
    ]


def draw_intervals(tables, labels, **spec):
    return rank_intervals(*tables, labels, **spec)


def beside(axes):
    """Row -> what stands beside it."""
    return {round(t.get_position()[1]): t.get_text().strip() for t in axes.texts if t.get_position()[0] == 1}


def note(figure):
    return " ".join(" ".join(texts(figure)).split())


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


@not_laid_out()
def test_models_of_one_rank_lie_at_it():
    (axes,) = draw_intervals(rank_tables([1.5, 1.5, 3], 0.5, "ab"), {}).axes
    assert sorted((y, x) for _, (x, y) in marks_of(axes)) == [(0, 1.5), (1, 1.5), (2, 3)]


def test_a_model_without_a_rank_is_said_in_words():
    figure = draw_intervals(rank_tables([1, np.nan, 3], 0.0, resampled=("words",)), {})
    (axes,) = figure.axes
    assert names(axes) == ["a", "b", "c"]
    assert (
        "Clearly different, the less biased first (adjusted p at most 0.05): a from c according to weat."
        in note(figure)
    )
    assert sorted(y for _, (_, y) in marks_of(axes)) == [0, 2]
    assert [t.get_text() for t in axes.texts if t.get_position()[0] != 1] == ["not ranked"]
    assert "Not ranked: b (3 of 9 queries)." in " ".join(texts(figure))


@not_laid_out()
def test_a_higher_level_leaves_more_undecided():
    tables = rank_tables([1, 2], 0.0, "ab", p=0.08)
    assert "(adjusted p at most 0.1): a from b according to weat" in note(
        draw_intervals(tables, {}, level=0.9)
    )
    none = "No two models clearly differ (adjusted p at most 0.05)"
    assert none in note(draw_intervals(tables, {}, level=0.95))


@not_laid_out()
def test_models_without_a_query_in_common_are_not_compared():
    intervals, rankings, pairs = rank_tables([1, np.nan], 0.0, "ab", resampled=("words",))
    figure = draw_intervals((intervals, rankings, pairs.iloc[:0]), {})
    assert "No two models can be compared: too few shared queries." in note(figure)


@not_laid_out()
def test_a_ranked_model_that_lost_queries_has_a_dagger():
    tables = rank_tables([1, 2], 0.5, "ab")
    tables[1].loc[1, "queries"] = 8
    figure = draw_intervals(tables, {})
    assert beside(figure.axes[0]) == {1: "†"}
    assert any("† not measured on all queries" in entry for entry in entries(figure))


def test_one_model_has_no_rank_and_that_is_said():
    tables = rank_tables([1], 0.5)
    assert any("one model has no rank" in text for text in texts(draw_intervals(tables, {})))


def test_a_study_draws_its_uncertainty_where_it_has_a_bootstrap(root):
    config = grid_config()
    del config["figures"]
    config["inference"] = INFERENCE
    assert "rank-intervals" in Study.of(config, root=root).figures
    config["inference"] = {"permutation": {}}
    assert "rank-intervals" not in Study.of(config, root=root).figures
    config |= {"inference": INFERENCE | {"sensitivity": {}}, "figures": ["influence"]}
    of_metrics = [
        f"influence-{criterion}-{metric}" for criterion in ("first", "second") for metric in config["metrics"]
    ]
    assert list(Study.of(config, root=root).figures) == of_metrics
    drawn = Study.of(config | {"figures": ["rank-intervals"]}, root=root).figures
    assert {name: drawing.spec["criterion"] for name, drawing in drawn.items()} == {
        "rank-intervals": "Overall",
        "rank-intervals-first": "First",
        "rank-intervals-second": "Second",
    }


@not_laid_out()
def test_the_studys_figures_are_drawn_from_its_tables(root, monkeypatch):
    monkeypatch.chdir(root)
    bootstrap = {"draws": 100, "level": 0.9}
    config = grid_config() | {"inference": INFERENCE | {"bootstrap": bootstrap}}
    study = Study.of(config | {"figures": ["rank-intervals"]}, root=root)
    study.results.mkdir(parents=True)
    names = ("rank_intervals", "rankings", "pairs")
    for name, table in zip(names, rank_tables([1, 2], 0.5, "ab", p=0.08), strict=True):
        table.to_csv(study.paths.table_file(name), index=False)
    assert any("90 % interval" in entry for entry in entries(draw(study.figures["rank-intervals"])))
    # p of .08 is significant at this level
    assert "a from b according to" in note(draw(study.figures["rank-intervals"]))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A project with the store and inference of a model."""
    from conftest import Project

    made = Project(tmp_path_factory.mktemp("null"))
    config = grid_config()
    config["metrics"] |= {"mac": {}, "ect": {}, "ripa": {"params": {"relation": "mean"}}}
    config["inference"] = INFERENCE
    made.configure(config)
    made.run("results/small/inference/one/none/weat.json", "results/small/figures/null/one/none/weat/q1.png")
    return made


def test_the_workflow_draws_a_cells_null_distribution_when_asked(small):
    folder = small.folder / "results/small/figures/null/one/none/weat"
    assert sorted(path.name for path in folder.iterdir()) == ["q1.pdf", "q1.png", "q1.svg"]
    # and of no other
    assert len(list((small.folder / "results/small/figures/null").rglob("*.png"))) == 1


def test_the_null_distribution_has_the_p_value_of_the_inference_file(small, monkeypatch, capsys):
    monkeypatch.chdir(small.folder)
    name, step = "one/none/weat/q1", ["step", "--study", "config/config.yaml"]
    file = Path(f"results/small/null/{name}.npz")
    before = file.read_bytes()
    assert main([*step, f"null {name}"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(file)]
    # the bytes of the run
    assert file.read_bytes() == before
    inference = json.loads(Path("results/small/inference/one/none/weat.json").read_text())
    (cell,) = (cell for cell in inference["cells"] if cell["query"] == "q1")
    with np.load(file) as arrays:
        assert json.loads(arrays["results"].tobytes()) == cell["results"]
    pdf = Path(f"results/small/figures/null/{name}.pdf")
    drawn = pdf.read_bytes()
    assert main([*step, f"figure null/{name}"]) == 0
    assert pdf.read_bytes() == drawn
    # what no run has made is recorded, too
    assert main([*step, "null one/none/weat/q2"]) == 0
    assert checksums.read(Path("results/small")).keys() >= {f"null/one/none/weat/q{i}.npz" for i in (1, 2)}


def of_cell(study, name):
    """The figure of a cell's null distributions, and the results that it shows."""
    cell = study.grid.cells[name]
    write_text(study.paths.query_file(cell.query), study.queries[cell.query].to_json())
    null = null_step(study, cell).run()
    return draw(drawing(study, cell)), null.results


def drawn(small, name, monkeypatch, **changes):
    monkeypatch.chdir(small.folder)
    return of_cell(Study.of(small.config | changes), name)


@pytest.mark.parametrize(
    ("name", "tails", "exact"),
    [("weat/q1", 2, 0), ("rnsb/q1", 1, 0), ("ripa/q1", 2, 0), ("ect/q2", 1, 0), ("ripa/q1", 2, 256)],
)
def test_the_shaded_tail_is_the_p_value(small, name, tails, exact, monkeypatch):
    permutation = {"draws": 200, "exact": exact, "stop": "none"}
    config = {"inference": {"permutation": permutation}}
    figure, results = drawn(small, f"one/none/{name}", monkeypatch, **config)
    assert len(figure.axes) == len(results)
    for axes, result in zip(figure.axes, results, strict=True):
        tested = result["permutation"]
        rest, tail = (sum(bar.get_height() for bar in bars) for bars in axes.containers)
        assert rest + tail == tested["draws"] == (256 if exact else 200)
        share = (tail + (not exact)) / (tested["draws"] + (not exact))
        assert tested["p_value"] == pytest.approx(min(tails * share, 1))
        # all of it on one side of the score
        (score,) = [line for line in axes.lines if to_hex(line.get_color()) == "#000000"]
        assert set(score.get_xdata()) == {tested["observed"]}
        edges = [
            (bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.containers[1] if bar.get_height()
        ]
        low, high = np.min(edges), np.max(edges)
        assert low >= tested["observed"] - 1e-9 or high <= tested["observed"] + 1e-9
        says = " ".join(texts(figure))
        assert p_value(tested["p_value"]) in says
        assert ("exact: all 256 permutations" if exact else "200 random permutations of") in says
    assert_readable(figure)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("weat/q1", ["which target set a word is in", "p is twice this share"]),
        ("ripa/q1", ["which word of a pair is in which target set"]),
        ("ect/q1", ["as low as the score, or lower"]),
        (
            "rnsb/q1",
            [
                "which attribute set a training word is in",
                "nothing about the words of the target",
                "draws at random",
            ],
        ),
    ],
)
def test_it_says_what_was_exchanged(small, name, says, monkeypatch):
    figure, results = drawn(small, f"one/none/{name}", monkeypatch)
    text = " ".join(" ".join(texts(figure)).split())
    assert all(part in text for part in says), text
    assert "Model one" in text
    assert "bootstrap resamples" in text
    # each sub-query has two panels of one scale: permutations, and bootstrap resamples with the interval
    assert len(figure.axes) == 2 * len(results)
    for left, right, result in zip(figure.axes[::2], figure.axes[1::2], results, strict=True):
        assert left.get_xlim() == right.get_xlim()
        bars = [tuple(line.get_xdata()) for line in right.lines if line.get_linewidth() == 3]
        known = result["bootstrap"]["jackknife"][0] is not None
        assert bars == [tuple(result["bootstrap"]["jackknife"])] * known
        assert sum(bar.get_height() for bar in right.containers[0]) == 100
    assert_readable(figure)


@pytest.mark.parametrize("name", ["weat", "mac", "direct_bias"])
def test_each_test_of_a_score_has_its_panel(word2vec, name, tmp_path):
    """On real vectors: all tests, bootstrap; random groups and control words of a metric that has no others."""
    query = Query(
        [["he", "him", "his", "man"], ["she", "her", "hers", "woman"]],
        [["science", "physics", "chemistry"], ["poetry", "art", "dance"]],
        ["Male", "Female"],
        ["Science", "Arts"],
    )
    asked = {"permutation": {"exact": 100}, "random_groups": {"draws": 199}, "bootstrap": {"draws": 50}}
    asked["frequency_bands"] = {"width": 1000, "frequency": "wordfreq"}
    asked["control_words"] = {"draws": 99, "frequency": "wordfreq"}
    spec = {"function": name, "params": {}, "words": {}, "seed": 0, "inference": asked}
    write_text(tmp_path / "query.json", query.to_json())
    write_null(
        {"query": tmp_path / "query.json", "store": StoreOf(word2vec.path)}, spec, tmp_path / "null.npz"
    )
    null = Null.load(tmp_path / "null.npz")
    results, values = null.results, null.values
    figure = null_distribution(null, name, **facts(metrics.metric(name)))
    tests = ["random_groups", "control_words"]
    tests = ["permutation", "random_groups", "frequency_bands", "control_words"] if name == "weat" else tests
    (result,) = results
    assert len(figure.axes) == len(tests) + 1
    says = " ".join(" ".join(texts(figure)).split())
    for axes, test in zip(figure.axes, tests, strict=False):
        record = result[test]
        rest, tail = (sum(bar.get_height() for bar in bars) for bars in axes.containers)
        assert rest + tail == record["draws"] == len(values[result["query"]][test])
        added = record["method"] != "exact"
        tails = 1 + (record["alternative"] == "two-sided")
        assert record["p_value"] == pytest.approx(min(tails * (tail + added) / (rest + tail + added), 1))
        assert f"{REGISTRY[test].label_of(metrics.metric(name))}: {p_value(record['p_value'])}" in says
    assert ("Permutation" in says) == (name == "weat")
    assert "random groups of words of this model, as coherent and as frequent, in place of the" in says
    assert_readable(figure)


def test_a_test_that_cannot_be_made_says_why_beside_the_other(small, monkeypatch):
    """A model of few words has no random groups."""
    config = {"inference": {"permutation": {"draws": 200}, "random_groups": {}}}
    monkeypatch.chdir(small.folder)
    study = Study.of(small.config | config)
    with refused("no test: Permutation test: ", "; Random groups: "):
        of_cell(study, "one/none/mac/q1")
    figure, (result,) = of_cell(study, "one/none/weat/q1")
    assert len(figure.axes) == 1
    assert "reason" in result["random_groups"]


def test_a_sub_query_without_a_value_says_why(small, monkeypatch):
    criteria = json.loads(json.dumps(small.config["criteria"]))
    criteria["First"]["queries"]["q1"]["attributes"]["D"] = ["unknown", "words"]
    figure, results = drawn(small, "one/none/rnd/q1", monkeypatch, criteria=criteria)
    assert [result["status"] for result in results] == ["ok", "lost_words:D"]
    # its panels are empty
    assert [axes.axison for axes in figure.axes] == [True, True, False, False]
    assert any("has no value (lost words:D)" in " ".join(text.split()) for text in texts(figure))


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("one/none/mac/q1", "MAC has no permutation test (but one of random_groups): "),
        ("one/none/weat/q9", "unknown step 'null one/none/weat/q9'"),
    ],
)
def test_a_cell_without_a_test_has_no_null_distribution(small, cell, says, monkeypatch):
    monkeypatch.chdir(small.folder)
    refusal("step", f"null {cell}", "--study", "config/config.yaml", parts=[says])
    assert not Path(f"results/small/null/{cell}.npz").exists()


def test_a_config_lists_the_null_distributions_to_draw(root):
    config = grid_config() | {"inference": INFERENCE}
    config["metrics"] = config["metrics"] | {"mac": {}}
    assert Study.of(config | {"null_distributions": ["one/none/weat/q1"]}, root=root)
    # random groups test every metric
    groups = config | {"inference": {"random_groups": {}}, "null_distributions": ["one/none/mac/q1"]}
    assert Study.of(groups, root=root)


@pytest.mark.parametrize(
    ("cell", "inference", "says"),
    [
        ("one/none/weat/q9", INFERENCE, "unknown cell 'one/none/weat/q9'"),
        ("one/none/mac/q1", INFERENCE, "MAC has no permutation test"),
        ("one/none/weat/q1", {"bootstrap": {}}, "needs a test (inference: permutation or random_groups"),
        ("one/none/weat/q1", {}, "needs a test"),
    ],
)
def test_a_null_distribution_that_there_is_not_is_one_line(root, cell, inference, says):
    config = grid_config() | {"inference": inference, "null_distributions": [cell]}
    config["metrics"] = config["metrics"] | {"mac": {}}
    with refused("null_distributions: ", says):
        Study.of(config, root=root)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", "other"])
def test_a_file_that_holds_no_null_distributions_is_one_line(tmp_path, content):
    path = tmp_path / "n.npz"
    path.write_bytes(content) if isinstance(content, bytes) else np.savez(path, values=np.zeros(3))
    with refused("n.npz: "):
        Null.load(path)


def test_null_distributions_are_planned_where_a_config_lists_them(small):
    config = small.config | {"null_distributions": ["two/none/rnd/q3"], "figures": []}
    listed = small.folder / "config" / "listed.yaml"
    listed.write_text(json.dumps(config))
    # the results are of the other file: in place of them
    plan = small.snakemake("-n", "--configfile", "config/listed.yaml", "--config", "replace=true")
    assert plan.returncode == 0, plan.stdout + plan.stderr
    # that cell's, and no other's
    assert plan.stdout.count("rule null_distribution:") == plan.stdout.count("rule null_figure:") == 1
    assert "figures/null/two/none/rnd/q3.png" in plan.stdout
