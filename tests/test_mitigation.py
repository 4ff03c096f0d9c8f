"""Mitigation in a study: config, table, and what re-runs after which edit."""

import copy
import json
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import yaml
from conftest import GRID_WORDS, ROOT, Project, grid_config
from test_workflow import append, cells, planned

from biasgrid import BiasgridError, tables
from biasgrid.debias.transform import Transform
from biasgrid.study import Study
from biasgrid.tables.mitigation import MITIGATION
from biasgrid.tables.scores import SCORES

# the table, by hand


def scores(folder, *rows):
    table = pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])
    path = folder / "scores.csv"
    table.assign(words_used=1, words_lost=0).reindex(columns=SCORES.names).to_csv(path, index=False)
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
    pd.testing.assert_frame_equal(tables.read(tmp_path / "mitigation.csv"), table, check_dtype=False)
    # a method whose untouched model was not evaluated
    with pytest.raises(BiasgridError, match="Gender: m: there is no evaluation of the untouched model"):
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
    debiased = {name: cell for name, cell in study.cells.items() if cell.debias == "hard"}
    assert set(debiased) == {
        f"one/hard/{m}/{q}" for m in ("weat", "weat_es", "rnd", "rnsb") for q in ("q1", "q2")
    }
    for name, cell in debiased.items():
        assert {**cell.spec, "debias": "none"} == study.cells[name.replace("/hard/", "/none/")].spec
    everywhere = Study.of(config_with(models=["one"], criteria=["First", "Second"]), root=root)
    assert "one/hard/weat/q3" in everywhere.cells
    assert list(study.fits) == [("one", "hard")]
    assert study.labels["hard"] == "Hard debias"


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (config_with(key="none"), "debias: First: none: this key stands for the untouched model"),
        (config_with(key="one"), "debias: First: one: this key occurs twice"),
        (config_with(criterion="Third"), "debias: unknown criterion 'Third'; allowed: First, Second"),
        (config_with(criteria=["Third"]), "hard: criteria: unknown criterion 'Third'"),
        (config_with(models=["one", "one"]), "duplicate 'one'; allowed: each once"),
        (config_with(models=["three"]), "hard: models: unknown model 'three'; allowed: one, two"),
        (config_with(published_as={"three": "x"}), "published_as: unknown model 'three'"),
        (config_with(method="soft"), "debias: First: hard: unknown debias method 'soft'"),
        (config_with(words={"pairs": PAIRS}), "hard: unknown hard argument of words 'pairs'"),
        (config_with(words={"definitional_pairs": "x.y"}), "definitional_pairs: must be a list of lists"),
        (config_with(params={"k": 1}), "hard: unknown hard parameter 'k'"),
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
    with pytest.raises(BiasgridError) as caught:
        Study.of(config, root=root)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_methods_of_one_label_are_refused(root):
    config = config_with()
    config["debias"]["Second"] = {"other": copy.deepcopy(config["debias"]["First"]["hard"])}
    with pytest.raises(BiasgridError, match="hard is labelled 'Hard debias', too"):
        Study.of(config, root=root)


def test_the_study_of_all_methods_is_valid():
    from biasgrid import debias

    study = Study.read(ROOT / "config" / "debias.yaml", root=ROOT)
    methods = {debias.method(entry["method"]).name for _, entry in study.debias.values()}
    assert methods == set(debias.REGISTRY)
    for key, (criterion, entry) in study.debias.items():
        assert "models" not in entry, key
        if debias.method(entry["method"]).name in ("multiclass_hard", "inlp", "leace"):
            assert f"{criterion.lower()}-" in key
    assert {c for c, _ in study.debias.values()} == {"Gender", "Ethnicity", "Religion"}


# through the engine


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


@pytest.fixture(scope="module")
def debiased_project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("debiased"))
    sets = json.loads(made.word_sets.read_text())
    sets["sets"]["pairs"] = PAIRS
    made.word_sets.write_text(json.dumps(sets))
    lines = [f"{a}\t{b}\t{i % 7}" for i, (a, b) in enumerate(zip(GRID_WORDS, GRID_WORDS[3:], strict=False))]
    (made.folder / "pairs.tsv").write_text("\n".join(lines) + "\n")
    made.configure(debias_config())
    made.run()
    return made


@pytest.fixture
def debiased(debiased_project, tmp_path):
    shutil.copytree(debiased_project.folder, tmp_path / "project", symlinks=True)
    made = Project.__new__(Project)
    made.folder, made.config = tmp_path / "project", debias_config()
    made.word_sets = made.folder / "data" / "word_sets" / "toy.json"
    return made


# what follows from new cells and evaluations
FOLLOWS = {"scores", "scalars", "aggregates", "rankings", "correlations", "mitigation", "figure"}
ALL = [("one", "hard"), ("one", "hsr"), ("one", "projection"), ("two", "hard"), ("two", "projection")]


def test_a_study_with_debias_methods_runs_to_its_tables_and_figures(debiased):
    results = debiased.folder / "results" / "small"
    assert {(p.parent.name, p.stem) for p in (results / "debias").rglob("*.npz")} == set(ALL)
    table = tables.read(results / "scores.csv")
    assert set(table["debias"]) == {"none", "hard", "hsr", "projection"}
    assert set(table.loc[table["debias"] != "none", "criterion"]) == {"First"}
    mitigated = tables.read(results / "mitigation.csv")
    assert set(zip(mitigated["model"], mitigated["debias"], strict=True)) == set(ALL)
    assert set(mitigated["group"]) == {"direct", "displacement", "metric", "similarity"}
    direct = mitigated[(mitigated["measure"] == "direct_bias") & (mitigated["debias"] == "hard")]
    assert (direct["before"] > 0.01).all()
    assert (direct["after"] < 1e-6).all()
    assert {p.stem for p in (results / "figures").glob("*.pdf")} == {"before-after-first", "trade-off-first"}
    # one model's transform is of that model
    one = Transform.load(results / "debias" / "one" / "hard.npz")
    assert one.fitted_on["model"] == "one"
    assert planned(debiased) == {}


def test_editing_a_definitional_pair_refits_only_what_uses_it(debiased):
    debiased.word_sets.write_text(debiased.word_sets.read_text().replace('["a2", "b2"]', '["a3", "b3"]'))
    jobs = planned(debiased)
    assert jobs["debias"] == {f"debias/{m}/{d}.npz" for m, d in ALL if d != "hsr"}
    assert cells(jobs) == {
        f"{m}/{d}/{k}/{q}" for m, d in ALL if d != "hsr" for k in ("weat", "mac") for q in ("q1", "q2")
    }
    # the pairs are those of the evaluation, too
    assert len(jobs["evaluation"]) == len(ALL) + 2
    assert set(jobs) == {"debias", "evaluation", "cell", "study", *FOLLOWS}


def evaluated(*fits):
    return {f"evaluation/{model}/{debias}/first.json" for model, debias in fits}


def test_a_new_method_and_a_removed_one(debiased):
    config = debias_config()
    methods = config["debias"]["First"]
    methods["again"] = copy.deepcopy(methods["hsr"]) | {"label": "HSR again", "models": ["two"]}
    debiased.configure(config)
    jobs = planned(debiased)
    assert jobs["debias"] == {"debias/two/again.npz"}
    assert jobs["evaluation"] == evaluated(("two", "again"))
    assert cells(jobs) == {f"two/again/{k}/{q}" for k in ("weat", "mac") for q in ("q1", "q2")}
    assert set(jobs) == {"debias", "evaluation", "cell", "study", *FOLLOWS}
    del methods["again"], methods["projection"]
    debiased.configure(config)
    assert set(planned(debiased)) == {"study", *FOLLOWS}


def test_a_methods_label_changes_figures_only(debiased):
    config = debias_config()
    config["debias"]["First"]["hsr"]["label"] = "Renamed"
    debiased.configure(config)
    assert set(planned(debiased)) == {"study", "figure"}


def test_editing_a_methods_parameter_or_module_refits_that_method(debiased):
    config = debias_config()
    config["debias"]["First"]["hsr"]["params"] = {"alpha": 30}
    debiased.configure(config)
    jobs = planned(debiased)
    assert jobs["debias"] == {"debias/one/hsr.npz"}
    assert {name.split("/")[1] for name in cells(jobs)} == {"hsr"}
    assert jobs["evaluation"] == evaluated(("one", "hsr"))
    assert set(jobs) == {"debias", "evaluation", "cell", "study", *FOLLOWS}
    debiased.configure(debias_config())
    append(debiased.folder / "src" / "biasgrid" / "debias" / "hard.py")
    jobs = planned(debiased)
    assert jobs["debias"] == {f"debias/{m}/hard.npz" for m in ("one", "two")}
    assert {name.split("/")[1] for name in cells(jobs)} == {"hard"}
    assert jobs["evaluation"] == evaluated(("one", "hard"), ("two", "hard"))
    assert set(jobs) == {"debias", "evaluation", "cell", *FOLLOWS}


@pytest.mark.parametrize(
    "module", ["words", "geometry", "embeddings/store", "debias/lookup", "debias/transform"]
)
def test_editing_what_fits_and_evaluations_share_reruns_them(debiased, module):
    append(debiased.folder / "src" / "biasgrid" / f"{module}.py")
    jobs = planned(debiased)
    assert len(jobs["debias"]) == len(ALL)
    assert len(jobs["evaluation"]) == len(ALL) + 2


def test_a_file_in_the_package_is_a_new_evaluation(debiased):
    """The one of docs/debias.md."""
    text = (ROOT / "docs" / "debias.md").read_text().split("## An evaluation of your own")[1]
    code = text.split("```python\n")[1].split("```")[0]
    (debiased.folder / "src" / "biasgrid" / "evaluation" / "length.py").write_text(code)
    config = debias_config()
    config["evaluation"]["First"]["length"] = {"rows": 7}
    debiased.configure(config)
    debiased.run()
    table = tables.read(debiased.folder / "results" / "small" / "mitigation.csv")
    lengths = table[table["group"] == "length"]
    assert set(zip(lengths["model"], lengths["debias"], strict=True)) == set(ALL)
    assert set(lengths["n"]) == {7}
    after = lengths.set_index(["model", "debias"])["after"]
    # hard debias works on vectors of unit length
    assert after["one", "hard"] < 1.001 < lengths["before"].min()


def test_a_file_of_word_pairs_that_is_gone_is_named(debiased):
    config = debias_config()
    config["evaluation"]["First"]["similarity"]["toy"] = "nowhere.tsv"
    debiased.configure(config)
    done = debiased.snakemake("--cores", "2")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
    assert lines
    assert all("nowhere.tsv" in line for line in lines)


def test_distances_are_from_the_neutral_value_of_the_criterions_own_metric(root):
    """A criterion that is not ranked may have another metric under the same key."""
    config = config_with()
    config["criteria"]["First"] |= {"ranked": False, "metrics": {"weat": {"metric": "mac"}}}
    assert Study.of(config, root=root).neutrals["First", "weat"] == 1.0
    assert Study.of(config, root=root).neutrals["Second", "weat"] == 0.0


def test_there_is_no_trade_off_without_a_measure_of_quality(root):
    config = config_with() | {
        "evaluation": {"First": {"direct": {"definitional_pairs": PAIRS, "words": ["c0"]}}}
    }
    config["figures"] = ["mitigation"]
    assert set(Study.of(config, root=root).figures) == {"before-after-first"}
    # a method may be measured on other criteria, too
    config["debias"]["First"]["hard"]["criteria"] = ["First", "Second"]
    assert set(Study.of(config, root=root).figures) == {"before-after-first", "before-after-second"}


def test_editing_a_querys_word_fits_nothing(debiased):
    debiased.word_sets.write_text(debiased.word_sets.read_text().replace('"f5"', '"f6"'))
    jobs = planned(debiased)
    assert {name.split("/")[-1] for name in cells(jobs)} == {"q2"}
    assert {name.split("/")[1] for name in cells(jobs)} == {"none", "hard", "hsr", "projection"}
    assert set(jobs) == {"query", "cell", *FOLLOWS}


def test_editing_what_is_evaluated_measures_no_cell(debiased):
    append(debiased.folder / "pairs.tsv", "a0\tf7\t3\n")
    jobs = planned(debiased)
    assert len(jobs["evaluation"]) == len(ALL) + 2
    assert set(jobs) == {"evaluation", "mitigation", "figure"}
    config = debias_config()
    config["evaluation"]["First"]["direct"]["words"] = ["c0", "c1"]
    debiased.configure(config)
    jobs = planned(debiased)
    assert len(jobs["evaluation"]) == len(ALL) + 2
    assert set(jobs) == {"evaluation", "mitigation", "figure", "study"}


def test_cores_and_hands_do_not_change_a_byte(debiased_project, debiased, tmp_path):
    before = debiased_project.results()
    shutil.rmtree(debiased.folder / "results")
    done = debiased.snakemake("--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert debiased.results() == before
    for arguments in (
        ("fit", "--study", "config/config.yaml", "--model", "one", "--debias", "hard"),
        ("evaluate", "--study", "config/config.yaml", "--evaluation", "one/hard/first"),
        ("cell", "--study", "config/config.yaml", "--cell", "one/hard/weat/q1"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "biasgrid", *arguments],
            cwd=debiased.folder,
            env=debiased.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert debiased.results() == before


def test_a_method_that_cannot_be_fitted_is_named_and_the_others_go_on(debiased):
    config = debias_config()
    config["debias"]["First"]["hard"]["words"] = {"definitional_pairs": [["x", "y"], *PAIRS]}
    debiased.configure(config)
    done = debiased.snakemake("--cores", "2")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("biasgrid: ")]
    assert any(
        "debias one/hard failed: definitional_pairs: one has no word of ['x', 'y']" in line for line in lines
    )
    assert all("projection" not in line for line in lines)


def test_config_files_may_hold_models(debiased):
    models = debias_config()["models"]
    (debiased.folder / "models.yaml").write_text(yaml.safe_dump({"two": models["two"]}, sort_keys=False))
    config = debias_config()
    config["models"] = [{"one": models["one"]}, "models.yaml"]
    debiased.configure(config)
    assert planned(debiased) == {}
    config["models"] = [models, "models.yaml"]
    debiased.configure(config)
    done = debiased.snakemake("--cores", "1", "--dry-run")
    assert done.returncode == 2
    assert "models.yaml: 'two' is defined twice" in done.stderr
