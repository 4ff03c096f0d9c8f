"""Tests on shuffled corpora: what is planted, what tests make of frequency alone, and the table's arithmetic."""

import json
import os
import re
import shutil
from collections import Counter

import forks
import numpy as np
import pandas as pd
import pytest
import scipy.stats
import yaml
from conftest import ROOT

import biasgrid as bg
from biasgrid import metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.models.store import EmbeddingStore
from biasgrid.models.store_writer import StoreWriter
from biasgrid.queries.query import Query
from validation.__main__ import main
from validation.calibration import Simulation
from validation.calibration.frequency_table import FREQUENCY_TESTS, interval, shares
from validation.calibration.frequency_vectors import corpus_of
from validation.calibration.planting import Frequencies, Text

LETTERS = "abcdefghij"


def word(number):
    """A word of letters alone."""
    return "".join(LETTERS[int(digit)] for digit in f"{number:04d}")


@pytest.fixture(scope="module")
def corpus():
    """600 words, of which word i occurs 3000 / (i + 5) times, in sentences of 12."""
    tokens = [word(i) for i in range(600) for _ in range(3000 // (i + 5))]
    tokens += ["1961"] * 100
    return bg.load([" ".join(tokens[i : i + 12]) for i in range(0, len(tokens), 12)], kind="corpus")


def beside(text, words, others):
    """How many times a word of one set has one of another beside it in its sentence."""
    words, others = ({text.words[i] for i in of_set} for of_set in (words, others))
    return sum(
        sum(other in others for other in sentence[max(i - 1, 0) : i] + sentence[i + 1 : i + 2])
        for sentence in text
        for i, token in enumerate(sentence)
        if token in words
    )


def test_a_shuffled_text_has_the_words_and_the_lengths_of_sentences(corpus):
    text = Text.shuffle(corpus, np.random.default_rng(1))
    sentences = list(text)
    lengths = np.diff([*corpus.starts, corpus.tokens])
    assert [len(sentence) for sentence in sentences] == lengths.tolist()
    counts = Counter(token for sentence in sentences for token in sentence)
    assert [counts[w] for w in text.words] == text.counts.tolist() == corpus.counts.tolist()
    again = Text.shuffle(corpus, np.random.default_rng(1))
    other = Text.shuffle(corpus, np.random.default_rng(2))
    assert np.array_equal(text.tokens, again.tokens)
    assert not np.array_equal(text.tokens, other.tokens)


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_planting_puts_words_beside_others_and_changes_no_count(corpus, share):
    rng = np.random.default_rng(3)
    text = Text.shuffle(corpus, rng)
    x, y, a, b, others = np.split(np.arange(40, 80), 5)
    kept = np.concatenate([x, y, a, b, others])
    planted = text.plant([(x, a), (y, b)], share, kept, rng)
    assert np.array_equal(planted.counts, text.counts)
    assert np.array_equal(planted.starts, text.starts)
    # neither the target words nor what else is kept moves
    stay = np.isin(text.tokens, np.concatenate([x, y, others]))
    assert np.array_equal(np.isin(planted.tokens, np.concatenate([x, y, others])), stay)
    assert np.array_equal(planted.tokens[stay], text.tokens[stay])
    for words, its, not_its in ((x, a, b), (y, b, a)):
        occurrences = text.counts[words].sum()
        grown = beside(planted, words, its) - beside(text, words, its)
        # a neighbour may be kept, or beyond the sentence, and a word fetched from beside another one
        assert 0.7 * share * occurrences < grown < 1.15 * share * occurrences
        assert abs(beside(planted, words, not_its) - beside(text, words, not_its)) < 0.05 * occurrences


def test_nothing_is_planted_beyond_the_words_that_there_are(corpus):
    rng = np.random.default_rng(3)
    text = Text.shuffle(corpus, rng)
    frequent, rare = np.arange(8), np.arange(500, 504)
    planted = text.plant([(frequent, rare)], 1.0, np.concatenate([frequent, rare]), rng)
    assert np.array_equal(planted.counts, text.counts)
    assert beside(planted, frequent, rare) >= text.counts[rare].sum()


def test_queries_have_the_frequencies_that_are_asked_for(corpus):
    text = Text.shuffle(corpus, np.random.default_rng(1))
    how = Frequencies(words=8, occurrences=40, spread=1.5, least=12)
    free, rng = how.free(text), np.random.default_rng(4)
    queries = [how.draw(text, (4, 1), free, rng) for _ in range(5)]
    words = [i for sets in queries for of_set in sets for i in of_set]
    assert len(set(words)) == len(words) == 5 * 4 * 8
    assert text.counts[words].min() >= 12
    assert "1961" not in {text.words[i] for i in words}
    x, y, a, b = (
        np.log(text.counts[np.concatenate(of_sets)]).mean() for of_sets in zip(*queries, strict=True)
    )
    assert 3 < np.exp(x - y) < 5
    assert 0.8 < np.exp(a - b) < 1.25
    free[np.flatnonzero(free)[19:]] = False
    with pytest.raises(BiasgridError, match="too few words that occur 12 times for so many queries; draw"):
        how.draw(text, (4, 1), free, rng)


def test_bias_is_planted_in_queries_that_share_no_word(corpus):
    spec = {
        "seed": 5,
        "queries": 2,
        "kinds": [
            ["fair", {"frequency": [1, 1], "share": 0}],
            ["biased", {"frequency": [1, 1], "share": 0.8}],
        ],
        "of_words": {"words": 5, "occurrences": 30, "spread": 1.5, "least": 8},
    }
    text, drawn = corpus_of(corpus, spec)
    words = [i for queries in drawn.values() for sets in queries for of_set in sets for i in of_set]
    assert len(set(words)) == len(words) == 80
    assert sorted(text.counts) == sorted(corpus.counts)
    for kind, queries in drawn.items():
        for x, y, a, b in queries:
            for of_set, own in ((x, a), (y, b)):
                share = beside(text, of_set, own) / text.counts[of_set].sum()
                assert (share > 0.5) == (kind == "biased")


@pytest.fixture(scope="module")
def by_frequency(tmp_path_factory):
    """A model whose vectors depend on how frequent a word is, 1000, 100 or 10 times, and on nothing else."""
    rng = np.random.default_rng(6)
    counts = np.repeat([1000, 100, 10], 100)
    vectors = rng.normal(size=(300, 20)) + np.repeat([3.0, 0.0, -3.0], 100)[:, None] * np.eye(20)[0]
    path = tmp_path_factory.mktemp("by_frequency") / "model"
    with StoreWriter(path, "test") as writer:
        writer.add([word(i) for i in range(300)], vectors.astype(np.float32), counts=counts)
        writer.finish(
            {"name": "m", "format": "trained", "vocab_prefix": "", "sorted": True, "tokens": 111_000}
        )
    return EmbeddingStore.open(path)


def test_within_bands_words_that_differ_in_frequency_alone_are_told_apart_by_chance(by_frequency):
    """300 right tests reject 5 % of the time; the plain test does not."""
    rng = np.random.default_rng(7)
    rejected = Counter()
    for seed in range(300):
        # six frequent words and a rare one against one and six
        places = [rng.permutation(100) + start for start in (0, 100, 200)]
        x = [*places[0][:6], places[1][0], places[2][0]]
        y = [places[0][6], places[1][1], *places[2][1:7]]
        sets = [x, y, places[0][7:15], places[2][7:15]]
        query = Query(*([[word(i) for i in of_set] for of_set in side] for side in (sets[:2], sets[2:])))
        options = {"draws": 199, "exact": 300}
        (result, *_), _ = infer_query(
            MeasurementSpec(
                metrics.metric("weat"),
                inference={"permutation": options, "frequency_bands": options},
                draw_seed=seed,
            ),
            query,
            by_frequency,
        )
        for test in ("permutation", "frequency_bands"):
            rejected[test] += result[test]["p_value"] <= 0.05 + 1e-13
    assert scipy.stats.binomtest(rejected["frequency_bands"], 300, 0.05).pvalue > 0.001
    assert rejected["permutation"] > 60


def test_the_interval_of_a_share_over_corpora():
    """By the formulas of Korn and Graubard (1998), with quantiles of t from a table."""
    share, low, high, effect = interval([1, 3, 8], [20, 20, 20])
    assert share == 12 / 60
    # corpora's shares .05, .15, .4: variance .0325, of their mean a third; of 60 independent tests .2 * .8 / 60
    assert effect == pytest.approx((0.0325 / 3) / (0.16 / 60))
    effective = 60 / effect * (2.00100 / 4.30265) ** 2
    assert low == pytest.approx(scipy.stats.beta.ppf(0.025, 0.2 * effective, 0.8 * effective + 1), rel=1e-4)
    assert high == pytest.approx(scipy.stats.beta.ppf(0.975, 0.2 * effective + 1, 0.8 * effective), rel=1e-4)
    # corpora that are alike count as independent tests, and no more: Clopper and Pearson
    exact = scipy.stats.binomtest(12, 60).proportion_ci(0.95, "exact")
    assert interval([4, 4, 4], [20, 20, 20])[:3] == pytest.approx((0.2, exact.low, exact.high))
    none = scipy.stats.binomtest(0, 60).proportion_ci(0.95, "exact")
    assert interval([0, 0, 0], [20, 20, 20])[:3] == pytest.approx((0, 0, none.high))
    assert interval([3], [3])[:3] == pytest.approx((1, 1 - none_high(3), 1))
    assert np.isnan(interval([0, 0], [0, 0])).all()


def none_high(tests):
    return 1 - 0.025 ** (1 / tests)


def test_the_table_of_all_trainings():
    def record(training, number, values, why=0):
        found = {"p_values": values, "reasons": {"too few": why} if why else {}}
        tests = {"permutation": found, "frequency_bands:4": found | {"p_values": [None] * len(values)}}
        return {
            "training": training,
            "corpora": "unbiased",
            "number": number,
            "found": {"kind": {"weat": tests}},
        }

    records = [
        record("one", 1, [0.05, 0.2, None], 1),
        record("one", 2, [0.01, 0.04]),
        record("two", 1, [0.9, 0.9, 0.9]),
        record("two", 2, [0.06, 0.9]),
    ]
    table = pd.DataFrame(
        shares(records, {"kind": {"frequency": [4, 1], "share": 0}}), columns=FREQUENCY_TESTS.names
    )
    assert table["training"].tolist() == ["one", "one", "two", "two", "all", "all"]
    plain = table[table["test"] == "permutation"].set_index("training")
    assert plain.loc["one", ["target_ratio", "attribute_ratio", "share"]].tolist() == [4, 1, 0]
    assert plain["queries"].tolist() == [5, 5, 10]
    assert plain["no_test"].tolist() == [1, 0, 1]
    assert plain["corpora_count"].tolist() == [2, 2, 2]
    assert plain["rejected_0.05"].tolist() == [3 / 4, 0, 3 / 9]
    assert plain["reason"].fillna("").tolist() == ["too few", "", "too few"]
    assert plain["width"].isna().all()
    # both trainings of a corpus have the same queries: of all together, corpora are what varies, 1 of 5 and 2 of 4
    assert plain.loc["all", ["low", "high"]].tolist() == pytest.approx(interval([1, 2], [5, 4])[1:3])
    banded = table[table["test"] == "frequency_bands"].set_index("training")
    assert banded["width"].tolist() == [4, 4, 4]
    assert banded[["rejected_0.05", "low", "high"]].isna().all(axis=None)


SMALL = {
    "simulation": "small",
    "plugins": ["training"],
    "seed": 1,
    "frequency": {
        "corpus": "text",
        "corpora": 2,
        "trainings": {"counts": {"label": "Counts", "algorithm": "ppmi", "params": {"vector_size": 10}}},
        "unbiased": {"both": [3, 3]},
        "biased": {"strong": {"share": 0.9}},
        "words": 5,
        "occurrences": 30,
        "spread": 1.5,
        "least": 8,
        "queries": 4,
        "biased_queries": 3,
        "draws": 99,
        "metrics": {"weat": {"widths": [4, 2]}, "mac": {"label": "Mean cosine"}},
    },
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A simulation on a corpus of a file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    tokens = rng.permutation([word(i) for i in range(600) for _ in range(3000 // (i + 5))])
    lines = "\n".join(" ".join(tokens[i : i + 12]) for i in range(0, len(tokens), 12))
    (tmp_path / "text.txt").write_text(lines)
    source = {"type": "file", "path": "text.txt"}
    return SMALL | {"models": {"text": {"label": "Text", "kind": "corpus", "source": source}}}


@pytest.mark.slow
def test_a_simulation_of_shuffled_corpora(config, tmp_path, capsys):
    path = tmp_path / "simulation.yaml"
    path.write_text(yaml.safe_dump(config))
    names = Simulation.read(path).frequency_cells
    of_cells = [f"{kind} {name}" for name in names for kind in ("vectors", "frequency")]
    assert main(["step", str(path), "store text", *of_cells]) == 0
    capsys.readouterr()
    assert main(["step", str(path)]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file for file in files if file.endswith((".csv", ".png"))] == [
        f"results/small/{name}"
        for name in (
            "frequency_tests.csv",
            "figures/frequency-tests-by-training.png",
            "figures/frequency-tests-by-metric.png",
        )
    ]
    table = pd.read_csv(tmp_path / "results" / "small" / "frequency_tests.csv")
    # two kinds, of one training and of all: WEAT's plain test, two widths and control words; MAC's three, one of them
    assert len(table) == 2 * 2 * (4 + 3)
    rows = table[table["training"] == "counts"].set_index(["kind", "metric", "test", "width"])[
        "rejected_0.05"
    ]
    assert rows["strong", "weat", "permutation"].tolist() == [1.0]
    assert rows["strong", "weat", "control_words"].tolist() == [1.0]
    assert rows["both", "mac", "permutation"].isna().all()
    reasons = table[(table["metric"] == "mac") & (table["test"] == "permutation")]["reason"]
    assert reasons.str.contains("it does not change when words change sets").all()


def snakemake(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = ("--snakefile", "validation/experiment.smk", "--cores", "2", *arguments)
    done = forks.run((*arguments, "--configfile", "simulation.yaml"), folder, environment)
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^([a-z_]+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))


@pytest.mark.slow
def test_the_workflow_trains_again_only_what_other_training_makes(config, tmp_path):
    for name in ("src", "plugins", "validation", "workflow", "profiles"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (tmp_path / "simulation.yaml").write_text(yaml.safe_dump(config))
    snakemake(tmp_path, "--until", "table")
    table = tmp_path / "results" / "small" / "frequency_tests.csv"
    made = table.read_bytes()
    # as by hand, in this process
    table.unlink()
    assert main(["step", "simulation.yaml"]) == 0
    assert table.read_bytes() == made
    edited = tmp_path / "src" / "biasgrid" / "measure" / "permutation.py"
    edited.write_text(edited.read_text() + "\nEDITED = True\n")
    jobs = {"frequency": "4", "table": "1", "figure": "2", "all": "1", "total": "8"}
    assert snakemake(tmp_path, "-n") == jobs
    edited = tmp_path / "validation" / "calibration" / "planting.py"
    edited.write_text(edited.read_text() + "\nEDITED = True\n")
    assert snakemake(tmp_path, "-n") == jobs | {"vectors": "4", "total": "12"}


def test_corpora_and_queries_are_the_same_for_all_trainings(config):
    other = {"algorithm": "glove", "params": {"vector_size": 10}}
    config["frequency"] = config["frequency"] | {
        "trainings": config["frequency"]["trainings"] | {"other": other}
    }
    cells = Simulation.of(config).frequency_cells
    assert len(cells) == 2 * 2 * 2
    same = {"seed", "kinds", "queries", "of_words"}
    for name in ("unbiased/1", "unbiased/2", "biased/1"):
        first, second = (cells[f"{training}/{name}"].spec["vectors"] for training in ("counts", "other"))
        assert {key: first[key] for key in same} == {key: second[key] for key in same}
    assert len({cell.spec["vectors"]["seed"] for cell in cells.values()}) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"corpus": "texts"}, "frequency: unknown corpus 'texts'; did you mean 'text'?"),
        (
            {"trainings": {"a": {"algorithm": "gloves"}}},
            "algorithm: unknown training algorithm 'gloves'; did you mean 'glove'?",
        ),
        (
            {"trainings": {"a": {"algorithm": "glove", "params": {"seed": 1}}}},
            "seed: is the number of the corpus",
        ),
        ({"trainings": {"a": {"algorithm": "glove", "params": {"window": 0}}}}, "window: 0 is not allowed"),
        ({"least": 4}, "trainings: counts: min_count: is more than `least`, 4"),
        ({"biased": {"both": {"share": 0.5}}}, "biased: 'both' is also the name of an unbiased kind"),
        ({"biased": {"strong": {"share": 0}}}, "share: 0 is not allowed"),
        ({"unbiased": {"both": [3]}}, "unbiased: both"),
        ({"metrics": {"pmi": {}}}, "metrics: pmi: it is measured on corpora, and not on vectors"),
        ({"metrics": {"weet": {}}}, "metrics: weet: unknown metric 'weet'"),
        ({"widths": [0.5]}, "widths: 0: 0.5 is not allowed"),
    ],
)
def test_a_wrong_section_is_one_line(config, wrong, message):
    config["frequency"] = config["frequency"] | wrong
    with pytest.raises(BiasgridError) as error:
        Simulation.of(config)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metrics": {"weat": {}}}, "of `metrics`, `words` and `bias`, all or none must be there"),
        ({"words": [8]}, "of `metrics`, `words` and `bias`, all or none must be there"),
    ],
)
def test_a_simulation_has_a_part_whole_or_not(config, wrong, message):
    with pytest.raises(BiasgridError, match=message):
        Simulation.of(config | wrong)
    with pytest.raises(BiasgridError, match="it has neither `metrics` nor `frequency`: nothing to simulate"):
        Simulation.of({"simulation": "nothing"})
