"""Mitigation in a study: config, table, and what re-runs after which edit."""

import json

import pandas as pd
import pytest
import yaml
from conftest import GRID_WORDS, ROOT, Project, checksums_of, grid_config, inputs_record
from in_process import make_all
from refusals import refused
from reruns import again, append, made_with, plan_of, planned
from threadpoolctl import threadpool_limits

from biasgrid import BiasgridError, tables
from biasgrid.core import registry
from biasgrid.debias.transform import Transform
from biasgrid.study.study import Study
from biasgrid.tables.mitigation import MITIGATION
from biasgrid.tables.scales import neutrals
from biasgrid.tables.scores import SCORES

# the table, by hand


def scores(folder, *rows):
    table = pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])
    path = folder / "scores.csv"
    table.assign(words_used=1, words_lost=0, tests=2, evidence="untested").reindex(
        columns=SCORES.names
    ).to_csv(path, index=False)
    return path


def evaluation(folder, debias, *measures):
    record = {"criterion": "Gender", "model": "m", "debias": debias}
    record["measures"] = [
        dict(zip(("group", "measure", "value", "n", "status"), row, strict=True)) for row in measures
    ]
    path = folder / f"{debias}.json"
    path.write_text(json.dumps(record))
    return path


def test_before_and_after_of_every_measure(tmp_path):
    nan = float("nan")
    distances = {("Gender", "mac"): 1.0, ("Occupations", "gipe"): 0.0}
    distances |= {("Gender", "weat"): 0.0, ("Gender", "ripa"): 0.0, ("Religion", "mac"): 0.0}
    inputs = {
        "scores": scores(
            tmp_path,
            # MAC is neutral at 1: distances .25 and .05 before, .1 and .01 after
            ("Gender", "q1", "mac", "m", "none", 0.75),
            ("Gender", "q2", "mac", "m", "none", 1.05),
            ("Gender", "q1", "mac", "m", "hard", 0.9),
            ("Gender", "q2", "mac", "m", "hard", 1.01),
            # a query that has no value after is left out before, too
            ("Gender", "q1", "weat", "m", "none", -0.5),
            ("Gender", "q2", "weat", "m", "none", 9.0),
            ("Gender", "q1", "weat", "m", "hard", 0.2),
            ("Gender", "q2", "weat", "m", "hard", nan),
            ("Gender", "q1", "ripa", "m", "none", nan),
            ("Gender", "q1", "ripa", "m", "hard", 0.1),
            # another criterion, another model
            ("Religion", "q3", "weat", "m", "none", 7.0),
            ("Gender", "q1", "weat", "n", "none", 7.0),
            # and one that the method is measured on, too
            ("Occupations", "q4", "gipe", "m", "none", 0.04),
            ("Occupations", "q4", "gipe", "m", "hard", 0.02),
        ),
        "evaluations": [
            evaluation(
                tmp_path,
                "none",
                ("direct", "direct_bias", 0.08, 258, "ok"),
                ("similarity", "men", 0.7, 30, "ok"),
            ),
            evaluation(
                tmp_path,
                "hard",
                ("direct", "direct_bias", 0.0, 258, "ok"),
                ("similarity", "men", None, 0, "too_few_words"),
                ("displacement", "mean_cosine_distance", 0.02, 100, "ok"),
            ),
        ],
    }
    spec = {"table": "mitigation", "neutral": [[*names, value] for names, value in distances.items()]}
    tables.write(inputs, spec, tmp_path / "mitigation.csv")
    table = MITIGATION.make(inputs, spec)
    assert list(table.columns) == MITIGATION.names
    assert set(table["debias"]) == {"hard"}
    assert set(table["criterion"]) == {"Gender", "Occupations"}
    rows = {row.measure: (row.group, row.before, row.after, row.n, row.status) for row in table.itertuples()}
    assert rows["mac"] == ("metric", pytest.approx(0.15), pytest.approx(0.055), 2, "ok")
    assert rows["weat"] == ("metric", 0.5, 0.2, 1, "ok")
    assert rows["gipe"] == ("metric", 0.04, 0.02, 1, "ok")
    assert rows["direct_bias"] == ("direct", 0.08, 0.0, 258, "ok")
    assert rows["mean_cosine_distance"] == ("displacement", 0.0, 0.02, 100, "ok")
    missing = table.set_index("measure").loc[["ripa", "men"]]
    assert missing["after"].isna().all()
    assert missing["status"].tolist() == ["no query has a value before and after", "too_few_words"]
    written = tables.read(tmp_path / "mitigation.csv")[MITIGATION.names]
    pd.testing.assert_frame_equal(written, table, check_dtype=False)
    # a method whose untouched model was not evaluated
    with pytest.raises(BiasgridError, match="Gender: m: there is no evaluation of the original model"):
        MITIGATION.make(inputs | {"evaluations": inputs["evaluations"][1:]}, spec)


# the config

PAIRS = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]


def config_with(criterion="First", key="hard", **entry):
    config = grid_config()
    entry = {"method": "hard", "words": {"definitional_pairs": PAIRS}} | entry
    config["debias"] = {criterion: {key: entry}}
    return config


def test_a_method_is_measured_on_its_criterion_and_its_cells_draw_what_the_untouched_ones_do(root):
    study = Study.of(config_with(models=["one"]), root=root)
    debiased = {name: cell for name, cell in study.grid.cells.items() if cell.debias == "hard"}
    assert set(debiased) == {
        f"one/hard/{m}/{q}" for m in ("weat", "weat_es", "rnd", "rnsb") for q in ("q1", "q2")
    }
    for name, cell in debiased.items():
        assert {**cell.spec, "debias": "none"} == study.grid.cells[name.replace("/hard/", "/none/")].spec
    everywhere = Study.of(config_with(models=["one"], criteria=["First", "Second"]), root=root)
    assert "one/hard/weat/q3" in everywhere.grid.cells
    assert list(study.grid.fits) == [("one", "hard")]
    assert study.labels["hard"] == "Hard debias"


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (config_with(key="none"), "debias: First: none: this key stands for the original model"),
        (config_with(key="one"), "debias: First: one: this key occurs twice"),
        (config_with(criterion="Third"), "debias: unknown criterion 'Third'; allowed: First, Second"),
        (config_with(criteria=["Third"]), "hard: criteria: unknown criterion 'Third'"),
        (config_with(models=["one", "one"]), "duplicate 'one'; allowed: each once"),
        (config_with(models=["three"]), "hard: models: unknown model 'three'; allowed: one, two"),
        (config_with(published_as={"three": "x"}), "published_as: unknown model 'three'"),
        (config_with(method="soft"), "debias: First: hard: unknown debias method 'soft'"),
        (config_with(words={"pairs": PAIRS}), "hard: unknown argument of words 'pairs' of hard"),
        (config_with(words={"definitional_pairs": "x.y"}), "definitional_pairs: must be a list of lists"),
        (config_with(params={"k": 1}), "hard: unknown option 'k' of hard"),
        (config_with(params={"n_components": 0}), "n_components: 0 is not allowed"),
        (config_with(mehtod="hard"), "unknown key 'mehtod'; did you mean 'method'"),
        (
            config_with() | {"evaluation": {"Third": {"similarity": {}}}},
            "evaluation: unknown criterion 'Third'",
        ),
        (config_with() | {"evaluation": {"First": {"hidden": {}}}}, "evaluation: First: hidden: key 'pairs'"),
        (config_with() | {"figures": ["pie"]}, "unknown kind of figure 'pie'"),
    ],
)
def test_a_wrong_config_is_one_line(root, config, says):
    with refused(says):
        Study.of(config, root=root)


@pytest.mark.slow
def test_the_study_of_all_methods_is_valid():
    """A newer method is there after somebody has entered it and run `make debias`."""
    from biasgrid import debias

    study = Study.read(ROOT / "config" / "debias.yaml", root=ROOT)
    methods = {debias.method(entry.method).name for _, entry in study.debias.values()}
    # without a projection that knows no groups: config/with_glpp.yaml
    measured = {"hard", "multiclass_hard", "double_hard", "ran", "hsr", "linear_projection", "inlp", "leace"}
    assert measured <= methods <= set(debias.REGISTRY) - {"glpp"}
    for key, (criterion, entry) in study.debias.items():
        assert entry.models is None, key
        if debias.method(entry.method).name in ("multiclass_hard", "inlp", "leace"):
            assert f"{criterion.lower()}-" in key
    assert {c for c, _ in study.debias.values()} == {"Gender", "Ethnicity", "Religion"}


def test_distances_are_from_the_neutral_value_of_the_criterions_own_metric(root):
    """A criterion that is not ranked may have another metric under the same key."""
    config = config_with()
    config["criteria"]["First"] |= {"ranked": False, "metrics": {"weat": {"metric": "mac"}}}
    study = Study.of(config, root=root)
    assert neutrals(study)["First", "weat"] == 1.0
    assert neutrals(study)["Second", "weat"] == 0.0


def test_there_is_no_trade_off_without_a_measure_of_quality(root):
    config = config_with() | {
        "evaluation": {"First": {"direct": {"definitional_pairs": PAIRS, "words": ["c0"]}}}
    }
    config["figures"] = ["mitigation"]
    assert set(Study.of(config, root=root).figures) == {"before-after-first"}
    # a method may be measured on other criteria, too
    config["debias"]["First"]["hard"]["criteria"] = ["First", "Second"]
    assert set(Study.of(config, root=root).figures) == {"before-after-first", "before-after-second"}


# what an edit makes again


def debias_config():
    config = grid_config()
    config["metrics"] = {"weat": {}, "mac": {}}
    config["debias"] = {
        "First": {
            "hard": {"method": "hard", "words": {"definitional_pairs": "toy.pairs", "ignore": ["f0"]}},
            "projection": {"method": "linear_projection", "words": {"definitional_pairs": "toy.pairs"}},
            "hsr": {"method": "hsr", "words": {"definitional_words": "toy.e"}, "models": ["one"]},
        }
    }
    config["evaluation"] = {
        "First": {
            "direct": {"definitional_pairs": "toy.pairs", "words": ["c0", "c1", "d0"]},
            "similarity": {"toy": "pairs.tsv"},
        }
    }
    config["figures"] = ["mitigation"]
    return config


def with_pairs(project):
    """The project with files that debias methods and evaluations of the study read."""
    sets = json.loads(project.word_sets.read_text())
    sets["sets"]["pairs"] = PAIRS
    project.word_sets.write_text(json.dumps(sets))
    lines = [f"{a}\t{b}\t{i % 7}" for i, (a, b) in enumerate(zip(GRID_WORDS, GRID_WORDS[3:], strict=False))]
    (project.folder / "pairs.tsv").write_text("\n".join(lines) + "\n")
    return project


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with the files of a study."""
    monkeypatch.chdir(tmp_path)
    return with_pairs(Project(tmp_path))


# what follows from new cells and evaluations
FOLLOWS = {"scores", "scalars", "aggregates", "rankings", "correlations", "mitigation", "figures", "report"}
ALL = [("one", "hard"), ("one", "hsr"), ("one", "projection"), ("two", "hard"), ("two", "projection")]


def evaluated(*of):
    return {f"{model}/{debias}/first" for model, debias in of}


def measured(*of):
    return {f"{m}/{d}/{k}/{q}" for m, d in of for k in ("weat", "mac") for q in ("q1", "q2")}


EVALUATED = evaluated(*ALL, ("one", "none"), ("two", "none"))


def check(jobs, fits, evaluations=None):
    """These are fitted, evaluated and measured, and what follows is made."""
    assert jobs.pop("debias") == {f"{model}/{debias}" for model, debias in fits}
    assert jobs.pop("evaluation") == (evaluations or evaluated(*fits))
    assert jobs.pop("cells") == measured(*fits)
    assert set(jobs) == {"study", *FOLLOWS}


@pytest.mark.slow
def test_editing_a_definitional_pair_refits_only_what_uses_it(folder):
    before = Study.of(debias_config())
    folder.word_sets.write_text(folder.word_sets.read_text().replace('["a2", "b2"]', '["a3", "b3"]'))
    # the pairs are those of the evaluation, too
    by_pairs = [(model, debias) for model, debias in ALL if debias != "hsr"]
    check(again(before, Study.of(debias_config())), by_pairs, EVALUATED)


@pytest.mark.slow
def test_a_method_is_fitted_where_it_is_new_or_its_parameters_are(folder):
    before, config = Study.of(debias_config()), debias_config()
    methods = config["debias"]["First"]
    methods["hsr"]["label"] = "Renamed"
    assert set(again(before, Study.of(config))) == {"study", "figures", "report"}
    methods["hsr"]["params"] = {"alpha": 30}
    check(again(before, Study.of(config)), [("one", "hsr")])
    methods["hsr"] = debias_config()["debias"]["First"]["hsr"]
    methods["again"] = methods["hsr"] | {"label": "HSR again", "models": ["two"]}
    check(again(before, Study.of(config)), [("two", "again")])
    del methods["again"], methods["projection"]
    assert set(again(before, Study.of(config))) == {"study", *FOLLOWS}


@pytest.mark.slow
def test_a_methods_module_is_of_its_fits_alone_and_some_are_of_all_fits_and_evaluations(folder):
    study = Study.of(debias_config())
    assert made_with(study, "debias.hard") == {"debias/one/hard.npz", "debias/two/hard.npz"}
    both = {f"debias/{m}/{d}.npz" for m, d in ALL} | {f"evaluation/{name}.json" for name in EVALUATED}
    for module in ("models.words", "core.geometry", "models.store", "debias.lookup", "debias.transform"):
        assert both <= made_with(study, module), module


@pytest.mark.slow
def test_editing_a_querys_word_fits_nothing(folder):
    before = Study.of(debias_config())
    folder.word_sets.write_text(folder.word_sets.read_text().replace('"f5"', '"f6"'))
    jobs = again(before, Study.of(debias_config()))
    states = [*ALL, ("one", "none"), ("two", "none")]
    assert jobs["cells"] == {name for name in measured(*states) if name.endswith("q2")}
    assert set(jobs) == {"queries", "cells", "lost_words", *FOLLOWS}


@pytest.mark.slow
def test_editing_what_is_evaluated_measures_no_cell(folder):
    config, before = debias_config(), Study.of(debias_config())
    jobs = again(before, before, ["pairs.tsv"])
    assert jobs["evaluation"] == EVALUATED
    assert set(jobs) == {"evaluation", "mitigation", "figures", "report"}
    config["evaluation"]["First"]["direct"]["words"] = ["c0", "c1"]
    jobs = again(before, Study.of(config))
    assert jobs["evaluation"] == EVALUATED
    assert set(jobs) == {"evaluation", "mitigation", "figures", "report", "study"}


@pytest.mark.slow
def test_config_files_may_hold_models(folder):
    config, before = debias_config(), Study.of(debias_config())
    models = config["models"]
    (folder.folder / "models.yaml").write_text(yaml.safe_dump({"two": models["two"]}, sort_keys=False))
    config["models"] = [{"one": models["one"]}, "models.yaml"]
    assert plan_of(Study.of(config)) == plan_of(before)


# through its steps, and through Snakemake


@pytest.mark.slow
def test_a_file_is_a_new_evaluation(folder):
    """The one of docs/debias.md, in a study of all methods."""
    registry.load_plugins([ROOT / "docs" / "debias" / "length.py"])
    config = debias_config()
    config["evaluation"]["First"]["length"] = {"rows": 7}
    study = make_all(Study.of(config))
    table = tables.read(study.paths.table_file("scores"))
    assert set(table["debias"]) == {"none", "hard", "hsr", "projection"}
    assert set(table.loc[table["debias"] != "none", "criterion"]) == {"First"}
    mitigated = tables.read(study.paths.table_file("mitigation"))
    assert set(zip(mitigated["model"], mitigated["debias"], strict=True)) == set(ALL)
    assert set(mitigated["group"]) == {"direct", "displacement", "metric", "similarity", "length"}
    direct = mitigated[(mitigated["measure"] == "direct_bias") & (mitigated["debias"] == "hard")]
    assert (direct["before"] > 0.01).all()
    assert (direct["after"] < 1e-6).all()
    lengths = mitigated[mitigated["group"] == "length"]
    assert set(zip(lengths["model"], lengths["debias"], strict=True)) == set(ALL)
    assert set(lengths["n"]) == {7}
    # hard debias works on vectors of unit length
    after = lengths.set_index(["model", "debias"])["after"]
    assert after["one", "hard"] < 1.001 < lengths["before"].min()
    assert Transform.load(study.paths.transform_file("one", "hard")).fitted_on["model"] == "one"


def study_config():
    """One method on one model: each fit and evaluation is a process."""
    config = debias_config()
    del config["models"]["two"]
    config["debias"]["First"] = {"hard": config["debias"]["First"]["hard"]}
    config["quality"] = {"similarity": {"toy": "pairs.tsv"}}
    return config | {"figures": []}  # a process each, which draws


@pytest.mark.slow
def test_through_snakemake_the_files_are_the_same(tmp_path, monkeypatch):
    by_snakemake = with_pairs(Project(tmp_path / "by_snakemake"))
    by_snakemake.configure(study_config())
    by_snakemake.run()
    here = with_pairs(Project(tmp_path / "here"))
    monkeypatch.chdir(here.folder)
    with threadpool_limits(1):
        make_all(Study.of(study_config()))
    made = here.results()
    assert {"small/debias/one/hard.npz", "small/mitigation.csv", "small/quality.csv"} <= set(made)
    # only a run records which files the results are of, their archives and their checksums
    made |= {name: text for name, text in by_snakemake.results().items() if name.startswith("small/sources/")}
    made |= {"small/config_file.txt": b"../../config/config.yaml\n", **checksums_of(by_snakemake.results())}
    made |= inputs_record(by_snakemake.folder, "data/word_sets/toy.json", "one.txt", "pairs.tsv")
    assert by_snakemake.results() == made

    append(by_snakemake.own_code("debias/hard.py"))
    jobs = planned(by_snakemake)
    assert (jobs["debias"], jobs["evaluation"]) == (
        {"debias/one/hard.npz"}, {"evaluation/one/hard/first.json"},
    )  # fmt: skip
    assert "store" not in jobs

    # what fails is named, and the rest goes on
    config = study_config()
    methods = config["debias"]["First"]
    methods["hard"]["words"] = {"definitional_pairs": [["x", "y"], *PAIRS]}
    methods["projection"] = debias_config()["debias"]["First"]["projection"]
    config["evaluation"]["First"]["similarity"]["toy"] = "nowhere.tsv"
    by_snakemake.configure(config)
    wanted = ("debias/one/hard.npz", "evaluation/one/none/first.json", "cells/one/projection/mac/q2.json")
    done = by_snakemake.snakemake("--cores", "1", *(f"results/small/{path}" for path in wanted))
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
    failed = "debias one/hard failed: definitional_pairs: one has no word of ['x', 'y']"
    assert sum(failed in line for line in lines) == 1
    assert any("nowhere.tsv" in line for line in lines)
    assert not any("projection" in line for line in lines)
    assert "small/cells/one/projection/mac/q2.json" in by_snakemake.results()
