"""The simulation study: populations as planned, right p-values told from wrong ones, coverage of a known truth."""

import dataclasses
import fcntl
import json
import math
import os
import re
import shutil
from functools import partial

import forks
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import yaml
from conftest import ROOT, SUBSET, checksums_of, write_text_model

from biasgrid import metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.core.files import write_bytes
from biasgrid.figures.frame import save
from biasgrid.measure.candidate_words import make_pool
from biasgrid.measure.significance.permutation import query_permutation_test
from biasgrid.metrics.registry import Metric, Score
from biasgrid.study import code
from validation.__main__ import main
from validation.calibration import Population, Simulation, figures, null
from validation.calibration.calibration import p_values
from validation.calibration.coverage import coverage
from validation.calibration.null import under_null
from validation.calibration.populations import exchange_labels
from validation.calibration.queries import KINDS, Words, draw_query
from validation.calibration.tables import CALIBRATION, shares

pytestmark = pytest.mark.slow

POPULATION = Population(dimensions=20, lean=0.5, topic=0.8, shared=0.5)
TINY = {
    "simulation": "tiny",
    "metrics": {"rnd": {"label": "Distance"}, "mac": {"coverage": {"repetitions": 4}}},
    "words": [4],
    "bias": [0, 0.5],
    "null": {"repetitions": 20, "draws": 19},
    "coverage": {"repetitions": 6, "draws": 50, "truth": 20},
}
# queries from a model of a text file
REAL = {
    "models": {"made": {"label": "Made", "source": {"type": "file", "path": "made.txt"}}},
    "calibration": {
        "kinds": {"random": 3, "apart": 3},
        "words": 4,
        "draws": 99,
        "metrics": {"weat": {}, "mac": {"label": "Mean cosine"}},
    },
}


def shift(targets, attributes):
    return Score(float(targets[0][:, 0].mean() - targets[1][:, 0].mean()))


def shift_of_many(words, attributes):
    def statistic(targets, attribute_weights):
        first, second = (weights @ words[:, 0] / weights.sum(axis=1) for weights in targets)
        # as many values as there are samples, whichever side they are of
        return first - second + 0 * attribute_weights[0].sum(axis=1)

    return statistic


# the distance that the simulation plans between the target sets
SHIFT = Metric("shift", "Shift", shift, (2, 1), (-math.inf, math.inf), 0.0, "", resampled=shift_of_many)


def means(sets):
    return [words.mean(axis=0)[:3].round(1).tolist() for words in sets]


def test_sets_lie_where_they_are_planned():
    rng = np.random.default_rng(1)
    targets, attributes = POPULATION.draw(metrics.metric("weat"), 4000, 0.7, rng)
    assert means(targets) == [[0.7, 0.8, 0], [0, 0.8, 0]]
    assert means(attributes) == [[0.5, 0, 0], [0, 0, 0]]
    # RNSB exchanges attribute words: there is its bias
    targets, attributes = POPULATION.draw(metrics.metric("rnsb"), 4000, 0.7, rng)
    assert means(targets) == [[0.5, 0.8, 0], [0, 0.8, 0]]
    assert means(attributes) == [[0.7, 0, 0], [0, 0, 0]]
    assert [len(side) for side in POPULATION.draw(metrics.metric("ect"), 4, 0, rng)] == [2, 1]


@pytest.mark.parametrize("metric", [metrics.metric("weat"), metrics.metric("ripa")])
def test_a_words_own_part_has_length_1_and_pairs_share_theirs(metric):
    (first, second), _ = POPULATION.draw(metric, 4000, 0.7, np.random.default_rng(1))
    own = [words - words.mean(axis=0) for words in (first, second)]
    assert [(part**2).sum(axis=1).mean() for part in own] == pytest.approx([1, 1], abs=0.02)
    assert (own[0] * own[1]).sum(axis=1).mean() == pytest.approx(0.5 if metric.paired else 0, abs=0.02)


@pytest.mark.parametrize(("name", "side"), [("weat", 0), ("rnsb", 1)])
def test_exchanged_labels_are_of_the_same_words(name, side):
    rng = np.random.default_rng(2)
    metric = metrics.REGISTRY[name]
    drawn = POPULATION.draw(metric, 5, 0.7, rng)
    dealt = exchange_labels(metric, *drawn, rng)
    assert [len(words) for words in dealt[side]] == [5, 5]
    assert sorted(map(tuple, np.concatenate(dealt[side]))) == sorted(map(tuple, np.concatenate(drawn[side])))
    assert not np.array_equal(dealt[side][0], drawn[side][0])
    assert dealt[1 - side] is drawn[1 - side]


def test_exchanged_pairs_stay_pairs():
    rng = np.random.default_rng(2)
    (first, second), attributes = POPULATION.draw(metrics.metric("ripa"), 50, 0.7, rng)
    (one, other), _ = exchange_labels(metrics.metric("ripa"), [first, second], attributes, rng)
    swapped = (one != first).any(axis=1)
    assert 10 < swapped.sum() < 40
    assert np.array_equal(one[swapped], second[swapped])
    assert np.array_equal(other[swapped], first[swapped])
    assert np.array_equal(other[~swapped], second[~swapped])


@pytest.mark.parametrize("bias", [0, 0.5])
@pytest.mark.parametrize(("name", "draws", "exact"), [("weat", 19, 0), ("ripa", 19, 300), ("ect", 39, 0)])
def test_p_values_are_uniform_where_there_is_nothing_to_find(name, draws, exact, bias):
    """Two-sided, exact and of a metric whose values have ties."""
    rng = np.random.default_rng(3)
    params = {"relation": "mean"} if name == "ripa" else {}
    found = under_null(
        metrics.REGISTRY[name].under(params),
        POPULATION,
        5,
        bias,
        params,
        rng,
        repetitions=300,
        draws=draws,
        exact=exact,
    )
    assert scipy.stats.kstest(found["uniform"], "uniform").pvalue > 0.01
    # moved by less than a partition; in ECT of five attribute words, many have the same value
    moved = np.subtract(found["p_values"], found["uniform"])
    assert (moved >= 0).all()
    assert name == "ect" or np.median(moved) < 2 / (draws + 1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda p, draws: p / 2,  # one tail for two
        lambda p, draws: (p * (draws + 1) / 2 - 1) / draws * 2,  # k / n for (k + 1) / (n + 1)
    ],
)
def test_wrong_p_values_are_found_out(monkeypatch, wrong):
    draws = 19

    def test(sampled, **options):
        tested = query_permutation_test(sampled, **options)
        return dataclasses.replace(tested, p_value=float(wrong(tested.p_value, draws)))

    monkeypatch.setattr(null, "query_permutation_test", test)
    rng = np.random.default_rng(3)
    found = under_null(
        metrics.metric("weat"), POPULATION, 5, 0, {}, rng, repetitions=300, draws=draws, exact=0
    )
    assert scipy.stats.kstest(found["uniform"], "uniform").pvalue < 0.01


def test_coverage_of_a_truth_that_is_known():
    """A difference of two means of n values of variance 1/d: its mean is the planned bias."""
    n, bias = 6, 0.4
    found = coverage(
        SHIFT,
        POPULATION,
        n,
        bias,
        {},
        np.random.default_rng(4),
        repetitions=200,
        draws=200,
        level=0.95,
        truth=4000,
    )
    deviation = math.sqrt(2 / 20 / n)
    assert found["deviation"] == pytest.approx(deviation, rel=0.04)
    assert found["expected"] == pytest.approx(bias, abs=4 * deviation / math.sqrt(4000))
    assert found["all_words"] == pytest.approx(bias, abs=0.01)
    # the bootstrap's variance of a mean is (n - 1) / n of the right one (Efron & Tibshirani 1993, section 5.2)
    assert found["standard_error"] == pytest.approx(deviation * math.sqrt((n - 1) / n), rel=0.06)
    # Student's t for two sets of one variance: Satterthwaite's degrees of freedom are no more than 2 n - 2
    exact = found["intervals"]["jackknife"]
    assert exact["expected"] / 200 == pytest.approx(0.95, abs=0.04)
    for kind in ("percentile", "bca"):
        part = found["intervals"][kind]
        assert part["intervals"] == 200
        assert part["expected"] + part["below"] + part["above"] == 200
        # normal quantiles where t's are right: 95 % intervals hold it in some 90 %
        expected = 2 * scipy.stats.t.cdf(1.96 * math.sqrt((n - 1) / n), 2 * n - 2) - 1
        assert part["expected"] / 200 == pytest.approx(expected, abs=0.05)
        assert part["width"] == pytest.approx(2 * 1.96 * deviation * math.sqrt((n - 1) / n), rel=0.08)


def write_config(folder, config):
    path = folder / "simulation.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of the workflow with a small simulation, and its results' folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("src", "plugins", "validation", "workflow", "profiles"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    write_config(tmp_path, TINY | REAL)
    write_text_model(tmp_path / "made.txt", [f"w{i}" for i in range(400)])
    return tmp_path


def snakemake(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = ("--snakefile", "validation/experiment.smk", "--cores", "2", *arguments)
    return forks.run((*arguments, "--configfile", "simulation.yaml"), folder, environment)


def files_of(folder):
    """Bytes of results by path; without the lock."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != ".lock"}


def all_steps(simulation):
    """The steps of rules: rule -> steps."""
    return {rule.name: list(rule.steps.values()) for rule in simulation.rules.values()}


def held(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def test_cells_tables_and_figures(project, monkeypatch):
    """The workflow's files, on two cores and beside another study, are those of its commands one by one."""
    path, results = project / "simulation.yaml", project / "results" / "tiny"
    with held(project / "logs" / "tiny" / ".lock"):
        done = snakemake(project)
        assert done.returncode != 0
        assert "biasgrid: another run of tiny is at work in this folder" in done.stderr
    with held(project / "logs" / "other" / ".lock"):
        done = snakemake(project)
    assert done.returncode == 0, done.stderr
    made = files_of(results)
    assert {file.name for file in (results / "figures").glob("*.png")} == {
        "p-values.png",
        "coverage-expected.png",
        "coverage-all-words.png",
        "calibration.png",
    }
    # Snakemake plans what depends on an edited module, and what is made of that
    edited = project / "validation" / "calibration" / "null.py"
    edited.write_text(edited.read_text() + "\nEDITED = True\n")
    plan = snakemake(project, "-n")
    jobs = dict(re.findall(r"^([a-z_]+) +(\d+)$", plan.stdout + plan.stderr, re.MULTILINE))
    assert jobs == {"simulated": "4", "table": "1", "figure": "3", "all": "1", "total": "9"}
    monkeypatch.setattr(figures, "save", partial(save, extensions=["svg"]))
    made = {file: content for file, content in made.items() if file.suffix not in (".pdf", ".png")}
    lines = made[results / "checksums.sha256"].splitlines(keepends=True)
    made[results / "checksums.sha256"] = b"".join(
        x for x in lines if not x.rstrip().endswith((b".pdf", b".png"))
    )
    again = ("mac/4/0.5", "made/random")
    kept = [file for file in made if "cells" in file.parts or "real" in file.parts]
    shutil.rmtree(results)
    for file in kept:
        if not str(file.with_suffix("")).endswith(again):
            write_bytes(file, made[file])
    assert main(["step", str(path), "archive made", "store made", "pool made"]) == 0
    assert main(["step", str(path), "cell mac/4/0.5", "real made/random"]) == 0
    assert main(["step", str(path)]) == 0
    # a run of the workflow alone records which config file the results are of, and their checksums
    files = files_of(results)
    names = {f"{results.name}/{file.relative_to(results).as_posix()}": c for file, c in files.items()}
    ((_, checksums),) = checksums_of(names, results.name).items()
    record = {
        results / "config_file.txt": b"../../simulation.yaml\n",
        results / "checksums.sha256": checksums,
    }
    assert files | record == made

    table = pd.read_csv(results / "simulation.csv").set_index(["metric", "words", "bias", "what"])
    cell = json.loads((results / "cells" / "rnd" / "4" / "0.5.json").read_text())
    assert len(cell["null"]["p_values"]) == 20
    rejected = table.loc["rnd", 4, 0.5, "rejected_0.05"]
    assert rejected["value"] == np.mean(np.array(cell["null"]["p_values"]) <= 0.05)
    assert rejected["low"] <= rejected["value"] <= rejected["high"]
    assert "mean over the words of all target sets" in table.loc["mac", 4, 0.5, "uniform_p"]["reason"]
    assert table.loc["mac", 4, 0, "bca_covers_expected"]["repetitions"] == 4
    assert table.loc["rnd", 4, 0, "percentile_covers_expected"]["repetitions"] == 6

    real = pd.read_csv(results / "calibration.csv").set_index(["model", "kind", "metric", "test"])
    assert len(real) == 2 * 2 * 2
    # of 99 draws at least 49 have to start from different words
    assert 1 / 100 <= real.loc["made", "random", "weat", "random_groups"]["lowest_p"] <= 1 / 50
    assert real.loc["made", "random", "mac", "permutation"]["no_test"] == 3
    assert (
        "it does not change when words change sets"
        in real.loc["made", "random", "mac", "permutation"]["reason"]
    )


def test_what_an_edit_re_runs(tmp_path):
    """What draws and infers is the code of cells; what summarises, a config and the command line are not."""
    simulation = Simulation.of(TINY | REAL)
    closures = {
        rule: [code.closure(step.function.partition(":")[0], *step.modules) for step in of_rule]
        for rule, of_rule in all_steps(simulation).items()
    }

    def stale(module):
        name = module if module.startswith("validation.") else f"biasgrid.{module}"
        rules = {rule for rule, parts in closures.items() if any(name in part for part in parts)}
        # figures draw with tools of their own, which may need anything below them
        return rules - {"figure"}

    for module in ("models.words", "queries.query", "measure.metric_input", "measure.infer"):
        # tables end with ids of queries, where they have any
        assert stale(module) - {"pool", *(["table"] if module == "queries.query" else [])} == {
            "simulated",
            "calibrated",
        }
    assert stale("validation.calibration.null") == stale("validation.calibration.coverage") == {"simulated"}
    assert stale("validation.calibration.queries") == {"calibrated"}
    assert "calibrated" in stale("measure.candidate_words")
    assert stale("validation.calibration.tables") == {"table"}
    assert all("validation.calibration.plots" in part for part in closures["figure"])
    for part in (part for rule in ("simulated", "calibrated", "pool") for part in closures[rule]):
        assert not {name for name in part if re.match(r"biasgrid\.(cli|figures|tables|study)\b", name)}
    # a metric's module is the code of its own cells
    first = [part for part in closures["simulated"] if "biasgrid.metrics.rnd" in part]
    assert len(first) == 2
    # labels are what figures print, and no cell's
    other = all_steps(Simulation.of(TINY | REAL | {"metrics": TINY["metrics"] | {"rnd": {"label": "RND"}}}))
    changed = {
        rule
        for rule, of_rule in all_steps(simulation).items()
        if [s.depends_on for s in of_rule] != [s.depends_on for s in other[rule]]
    }
    assert changed == {"figure"}


def test_a_metric_is_simulated_under_its_parameters(tmp_path, monkeypatch):
    """Where the groups are attribute sets, it is their words that are biased and exchanged; the sum of components of
    the authors' code has no short cut, and no value of words that have weights."""
    monkeypatch.chdir(tmp_path)
    simulated = {
        "benchmark": {"metric": "same", "params": {"orientation": "wefe_benchmark"}},
        "legacy": {"metric": "same", "params": {"legacy_l1": True}},
    }
    sides, draw = {}, Population.draw

    def drawn(self, metric, words, bias, rng):
        sets = draw(self, metric, words, bias, rng)
        if words == 50 and bias:
            sides.setdefault(metric.groups, [s[:, 0].mean() for side in sets for s in side])
        return sets

    monkeypatch.setattr(Population, "draw", drawn)
    few = {"null": {"repetitions": 2, "draws": 9}, "coverage": {"repetitions": 2, "draws": 20, "truth": 5}}
    made = Simulation.of(TINY | few | {"metrics": simulated, "words": [50], "bias": [2]})
    for step in made.rules["simulated"].steps.values():
        step.run()
    # target sets, then attribute sets
    assert sides["attributes"][2] - sides["attributes"][3] == pytest.approx(2, abs=0.3)
    assert sides["targets"][0] - sides["targets"][1] == pytest.approx(2, abs=0.3)
    found = {
        cell.place["metric"]: json.loads(made.cell_file(name).read_text())["found"]
        for name, cell in made.cells.items()
    }
    assert found["legacy"]["all_words"] is None
    assert 0 < found["benchmark"]["all_words"] < 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"words": [1]}, "words: 0: 1 is not allowed: it should be greater than or equal to 2"),
        (
            {"population": {"size": 3}},
            "population: unknown key 'size'; allowed: dimensions, lean",
        ),
        ({"metrics": {"weet": {}}}, "metrics: weet: unknown metric 'weet'"),
        (
            {"metrics": {"rnd": {"params": {"distance": "far"}}}},
            "metrics: rnd: distance: unknown value 'far'; allowed: norm, cos",
        ),
        (
            {"metrics": {"rnd": {"null": {"draws": 1}}}},
            "metrics: rnd: null: draws: 1 is not allowed: it should be greater than or equal to 2",
        ),
        ({"metrics": {"gipe": {}}}, "metrics: gipe: it needs more than the words' vectors"),
        (
            {"metrics": {"near": {"metric": "semaxis", "params": {"neighbours": 3}}}},
            "metrics: near: it needs more than the words' vectors",
        ),
        ({"null": {"draw": 5}}, "null: unknown key 'draw'; did you mean 'draws'? allowed: repetitions"),
        ({"calibration": REAL["calibration"]}, "calibration: it needs models, whose words it draws"),
        ({"models": ["none.yaml"]}, None),
        (
            REAL | {"calibration": {"kinds": {"biased": 9}, "metrics": {"weat": {}}}},
            "calibration: kinds: unknown key 'biased'; allowed: random, coherent, apart, leaning, mixed",
        ),
        (
            REAL | {"calibration": {"metrics": {"weet": {}}}},
            "calibration: metrics: weet: unknown metric 'weet'",
        ),
        (
            REAL | {"calibration": {"metrics": {"gipe": {"params": {"neighbours": 0}}}}},
            "calibration: metrics: gipe: neighbours: 0 is not allowed",
        ),
        (
            {
                "models": {
                    "own": {
                        "label": "Own",
                        "source": {"type": "trained", "corpus": "text8", "algorithm": "word2vec"},
                    }
                }
            },
            "models: own: a simulation trains no models; name others",
        ),
    ],
)
def test_a_wrong_config_is_one_line(tmp_path, capsys, wrong, message):
    path = write_config(tmp_path, TINY | wrong)
    assert main(["step", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    if message is None:
        assert error == "biasgrid: none.yaml: cannot read it: No such file or directory\n"
        return
    assert message in error
    assert error.startswith(f"biasgrid: {path}: ")


def test_what_is_not_there_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_config(tmp_path, TINY)
    assert main(["step", str(path), "cell rnd/5/0"]) == 2
    assert (
        "unknown step 'cell rnd/5/0'; did you mean 'cell rnd/4/0'? allowed: cell mac/4/0, "
        in capsys.readouterr().err
    )
    # no cell was computed yet
    assert main(["step", str(path)]) == 2
    assert "mac/4/0.json: cannot read it" in capsys.readouterr().err
    path = write_config(tmp_path, TINY | {"metrics": {"rnsb": {}}, "words": [2]})
    assert main(["step", str(path), "cell rnsb/2/0"]) == 2
    assert "rnsb has no value for some sets of 2 words; simulate larger ones" in capsys.readouterr().err
    path = write_config(tmp_path, TINY | REAL)
    assert main(["step", str(path), "store other"]) == 2
    assert "unknown step 'store other'; did you mean 'store made'?" in capsys.readouterr().err
    # neither archive nor store
    assert main(["step", str(path), "real made/random"]) == 2
    assert "made: not a store" in capsys.readouterr().err
    assert main(["step", str(path), "store made"]) == 2
    assert "made.txt" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_the_committed_config_has_every_metric():
    """But the same under two names, what has no mean, and what needs more than vectors: as the config says. A metric
    that is newer than the experiment is there after somebody has entered it and run `make simulation`."""
    committed = Simulation.read(ROOT / "validation" / "calibration" / "simulation.yaml")
    examined = {
        "direct_bias",
        "ect",
        "generalized_weat",
        "gipe",
        "indirect_bias",
        "mac",
        "nas",
        "pmn",
        "proximity",
    }
    examined |= {
        "ripa",
        "rnd",
        "rnsb",
        "same",
        "same_skew",
        "same_stereotype",
        "sc_weat",
        "semaxis",
        "weat",
        "weat_es",
    }
    left_out = {"nas", "indirect_bias"} | {
        name for name, m in metrics.REGISTRY.items() if m.of_model or m.needs != "vectors"
    }
    there = {cell.spec["metric"] for cell in committed.cells.values()}
    assert examined - left_out <= there <= set(metrics.REGISTRY) - left_out
    assert 0 in committed.config.bias
    of_real = [entry.definition(key).name for key, entry in committed.config.calibration.metrics.items()]
    of_vectors = {name for name, metric in metrics.REGISTRY.items() if metric.needs == "vectors"}
    assert examined <= set(of_real) <= of_vectors
    assert len(committed.config.models) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_queries_are_drawn_as_their_kind_says(word2vec, kind):
    words = Words(word2vec, 2000)
    query = draw_query(kind, words, 8, np.random.default_rng(5))
    sets = [s.words for s in (*query.target_sets, *query.attribute_sets)]
    assert [len(s) for s in sets] == [8, 8, 8, 8]
    assert len({word for s in sets for word in s}) == 32
    assert word2vec.rows([word for s in sets for word in s]).max() < 2000
    vectors = [word2vec.take(s, word2vec.rows(s)) for s in sets]
    groups = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors[:2]]
    cosines = [np.triu(g @ g.T, 1).sum() / 28 for g in groups]
    assert (min(cosines) > 0.3) == (kind != "random")
    # whether attribute words are nearer to the first group
    centres = np.array([g.mean(axis=0) / np.linalg.norm(g.mean(axis=0)) for g in groups])
    first, second = (
        (centres @ (v / np.linalg.norm(v, axis=1, keepdims=True)).T > 0.3).sum(axis=1).tolist()
        for v in vectors[2:]
    )
    if kind == "coherent":
        # the seed and those that are nearest to it, by the model's own arithmetic
        entries, rows = word2vec.vocabulary(2000)
        every = word2vec.take(entries, rows)
        seed = vectors[0][0]
        similar = every @ seed / np.linalg.norm(every, axis=1) / np.linalg.norm(seed)
        assert {entries[i] for i in np.argsort(-similar)[:8]} == set(sets[0])
    expected = {"apart": ([8, 0], [0, 8]), "leaning": ([8, 0], [8, 0]), "mixed": ([4, 4], [4, 4])}
    assert kind not in expected or (first, second) == expected[kind]


@pytest.fixture(scope="module")
def real(word2vec, tmp_path_factory):
    """Cells of the word2vec subset by the command line: kind -> record."""
    folder = tmp_path_factory.mktemp("real")
    config = TINY | {"results": str(folder), "seed": 4}
    config["models"] = {SUBSET: yaml.safe_load((ROOT / "config/models/embedded.yaml").read_text())[SUBSET]}
    config["calibration"] = {
        "kinds": {"coherent": 12, "apart": 12},
        "vocabulary": 2000,
        "draws": 399,
        "metrics": {"weat": {}, "mac": {}, "pmn": {"params": {"neighbours": 10, "vocabulary": 1000}}},
    }
    path = write_config(folder, config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIASGRID_EMBEDDINGS", str(ROOT / "data" / "embeddings"))
        names = [f"store {SUBSET}", f"pool {SUBSET}", f"real {SUBSET}/coherent", f"real {SUBSET}/apart"]
        assert main(["step", str(path), *names]) == 0
        files = {kind: folder / "tiny" / "real" / SUBSET / f"{kind}.json" for kind in ("coherent", "apart")}
    return {kind: json.loads(file.read_text()) for kind, file in files.items()}


def rejections(tested):
    """How many tests reject, and how many there are."""
    there = [p for p in tested["p_values"] if p is not None]
    return sum(p <= 0.05 for p in there), len(there)


def test_planted_bias_is_found_on_real_vectors(real):
    found = real["apart"]["found"]
    for metric, test in (("weat", "permutation"), ("weat", "random_groups"), ("mac", "random_groups")):
        rejected, tested = rejections(found[metric][test])
        assert rejected >= tested - 1
        assert tested >= 10
    # of as many draws as there are, some fail, and at least 99 start from different words
    assert 1 / 400 <= found["weat"]["random_groups"]["lowest"] <= 1 / 100
    assert rejections(found["mac"]["permutation"]) == (0, 0)
    # of words near the one group and words near the other together, PMN is about half
    assert rejections(found["pmn"]["random_groups"])[0] <= 6


def test_nothing_is_found_of_random_words_by_random_groups(real):
    found = real["coherent"]["found"]
    for metric in ("weat", "mac", "pmn"):
        rejected, tested = rejections(found[metric]["random_groups"])
        # 12 right tests reject 5 times once in 5,000
        assert rejected < 5
        assert tested >= 8


def test_the_table_of_shares():
    """Intervals by the quantiles of the beta distribution (Clopper & Pearson 1934)."""

    def record(values, lowest=0.01):
        return {"p_values": values, "lowest": lowest, "reasons": {"why not": values.count(None)}}

    nothing = record([None] * 4, None)
    found = {"one": {"permutation": nothing, "random_groups": record([0.01, 0.05, 0.2, 0.8, None])}}
    table = pd.DataFrame(
        shares([{"model": "m", "kind": kind, "found": found} for kind in ("random", "mixed")]),
        columns=CALIBRATION.names,
    )
    without, row = table.iloc[0], table.iloc[1]
    assert without[["test", "no_test", "reason"]].tolist() == ["permutation", 4, "why not"]
    assert without[["rejected_0.05", "low", "high_of_all", "lowest_p"]].isna().all()
    assert row[["rejected_0.05", "rejected_0.01", "queries", "no_test"]].tolist() == [0.5, 0.25, 5, 1]
    # two rows have a share
    for level, (low, high) in ((0.95, ("low", "high")), (0.975, ("low_of_all", "high_of_all"))):
        tail = (1 - level) / 2
        assert row[low] == pytest.approx(scipy.stats.beta.ppf(tail, 2, 3))
        assert row[high] == pytest.approx(scipy.stats.beta.ppf(1 - tail, 3, 2))


def test_a_model_of_too_few_words(random_model):
    pool = make_pool(random_model(0))
    with pytest.raises(BiasgridError, match="40 of its first 100 rows are words with"):
        p_values(
            random_model(0),
            pool,
            "random",
            {"weat": {"params": {}}},
            seed=0,
            words=16,
            vocabulary=100,
            queries=2,
            draws=99,
        )
