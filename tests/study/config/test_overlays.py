"""Several configs as one: what a further file joins, replaces and leaves out, and what a run plans then."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import GRID_WORDS, ROOT, grid_config, refusal_of, write_text_model
from plain_formats import binary
from refusals import refused
from shipped_study import joined

from biasgrid.study.config import overlay
from biasgrid.study.study import Study
from biasgrid.tables import published as comparison

SEVENTH = "word2vec-gender-hard-debiased"
NUMBERBATCH = "conceptnet-numberbatch-19.08-en"
TESTS = {"permutation": {"draws": 99}, "bootstrap": {"draws": 10}}


def config(*changes):
    """The small study, as further configs change it."""
    first = grid_config() | {"inference": TESTS}
    return overlay.join([("first.yaml", first), *(("more.yaml", change) for change in changes)])


def test_mappings_are_joined_and_all_else_replaces():
    made = config(
        {"metrics": {"rnsb": {"params": {"n_iterations": 7}}, "mac": {}}, "figures": ["scores"], "seed": 3}
    )
    assert list(made["metrics"]) == ["weat", "weat_es", "rnd", "rnsb", "mac"]
    assert made["metrics"]["rnsb"] == {"params": {"n_iterations": 7}}
    assert made["metrics"]["weat_es"] == {"params": {"ddof": 0}}
    assert (made["figures"], made["seed"]) == (["scores"], 3)


@pytest.mark.parametrize("nothing", [{}, None])
def test_inference_can_be_left_out(study_files, nothing):
    assert Study.of(config()).grid.inferences
    study = Study.of(config({"inference": nothing}))
    assert not study.config.inference.parts
    assert not study.grid.inferences


def test_null_leaves_out_one_part_and_keeps_the_others():
    assert config({"inference": {"bootstrap": None}})["inference"] == {"permutation": {"draws": 99}}


def test_an_empty_mapping_is_a_part_with_its_defaults():
    assert config({"metrics": {"weat_es": {}}})["metrics"]["weat_es"] == {}
    assert config({"inference": {"permutation": {}}})["inference"] == TESTS | {"permutation": {}}


def test_a_later_file_changes_what_the_file_before_it_has_left_out():
    made = config({"inference": None}, {"inference": {"random_groups": {}}})
    assert made["inference"] == {"random_groups": {}}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"infernce": None}, ["infernce: null leaves out", "none has 'infernce'; did you mean 'inference'?"]),
        ({"models": {"onne": None}}, ["models: onne: null leaves out", "did you mean 'one'?"]),
        ({"inference": {"sensitivity": None}}, ["inference: sensitivity: null leaves out"]),
        (
            {"models": {"one": {"path": "a", "source": {"type": "file", "path": "b"}}}},
            ["models: one: path: is short for a source of type file"],
        ),
        (3, ["not a mapping"]),
    ],
)
def test_a_wrong_change_is_named(change, parts):
    with refused(*parts, "more.yaml: "):
        config(change)


@pytest.mark.filterwarnings("ignore:.*repeats")
def test_a_model_of_an_included_file_is_left_out_by_its_name():
    study = joined("config", {"models": {NUMBERBATCH: None}})
    assert list(study.models) == [name for name in joined("config").models if name != NUMBERBATCH]
    assert len(study.models) == 5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_a_query_of_an_included_file_is_left_out_by_its_name():
    queries = joined("config").queries
    first = next(iter(queries))
    criterion = next(
        name for name, entry in joined("config").config.criteria.items() if first in entry.queries
    )
    fewer = joined("config", {"criteria": {criterion: {"queries": {first: None}}}}).queries
    assert list(fewer) == [name for name in queries if name != first]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_a_path_replaces_the_source_and_what_described_its_file():
    before = joined("config").config.models[NUMBERBATCH]
    model = joined("config", {"models": {NUMBERBATCH: {"path": "mine.bin"}}}).config.models[NUMBERBATCH]
    assert model.source == {"type": "file", "path": "mine.bin"}
    # the file may be of another format, and nothing is downloaded
    assert (before.format, before.download_mb) == ("text", 325)
    assert (model.format, model.download_mb) == (None, None)
    assert (model.label, model.sorted, model.language) == (before.label, False, "en")


@pytest.mark.parametrize("order", [["source", "format"], ["format", "source"]])
def test_a_source_of_another_type_replaces_the_former_and_its_format(order):
    change = {"source": {"type": "file", "path": "mine.bin"}, "format": "word2vec-binary"}
    models = {"one": {"label": "One", "source": {"type": "url", "url": "https://a.org/b"}, "download_mb": 3}}
    made = overlay.join(
        [("a.yaml", {"models": models}), ("b.yaml", {"models": {"one": {key: change[key] for key in order}}})]
    )
    assert made["models"]["one"] == {"label": "One", **change}


def test_a_source_of_the_same_type_is_joined():
    models = {"one": {"source": {"type": "gensim-data", "dataset": "a", "md5": "0" * 32}}}
    mirror = {"models": {"one": {"source": {"base": "https://mirror.example.org"}}}}
    made = overlay.join([("a.yaml", {"models": models}), ("b.yaml", mirror)])
    assert made["models"]["one"]["source"] == models["one"]["source"] | mirror["models"]["one"]["source"]


def test_a_new_model_of_a_path_has_its_key_as_label(study_files):
    (study_files / "three.txt").write_text((study_files / "two.txt").read_text())
    study = Study.of(config({"models": {"three": {"path": "three.txt"}}}))
    assert study.config.models["three"].label == "three"
    assert list(study.models) == ["one", "two", "three"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_the_study_with_the_published_debiased_file_ranks_the_papers_seven_models():
    study = joined("config", "with_hard_debiased_file")
    assert list(study.models) == [*joined("config").models, SEVENTH]
    assert study.models[SEVENTH]["source"]["type"] == "file"
    assert {cell.debias for cell in study.grid.cells.values()} == {"none"}
    # seven models, 25 queries, four metrics
    assert len(study.grid.cells) == 700
    command = re.search(
        r"^#   snakemake (.*)$", (ROOT / "config/with_hard_debiased_file.yaml").read_text(), re.M
    )[1]
    assert command.endswith("--configfile config/config.yaml config/with_hard_debiased_file.yaml")


def planned(project, *options):
    """The jobs of a dry run, by rule."""
    done = project.run("-n", *options)
    table = re.search(r"^job +count\n-+ +-+\n(.*?)^total", done.stdout + done.stderr, re.M | re.S)[1]
    return {rule: int(count) for rule, count in map(str.split, table.splitlines())}


@pytest.mark.slow
def test_a_run_plans_what_further_configs_leave(project):
    project.configure(grid_config() | {"inference": TESTS})
    for name, change in {
        "off": {"inference": {}},
        "one": {"models": {"two": None}},
        "mine": {"models": {"two": {"path": "one.txt"}}},
    }.items():
        Path(project.folder, f"{name}.yaml").write_text(yaml.safe_dump(change))
    files = ("--configfile", "config/config.yaml")
    jobs = planned(project, *files)
    assert (jobs["cell"], jobs["inference_without_aggregates"], jobs["store"]) == (24, 8, 2)
    off = planned(project, *files, "off.yaml")
    assert (off["cell"], any("inference" in rule for rule in off)) == (24, False)
    assert planned(project, *files, "one.yaml")["cell"] == 12
    mine = planned(project, *files, "mine.yaml")
    assert (mine["cell"], mine["store"]) == (24, 2)
    # one config on the command line
    assert not any("inference" in rule for rule in planned(project, "--config", "inference={}"))


@pytest.mark.slow
def test_both_commands_refuse_a_name_that_is_not_there_in_one_line(project):
    Path(project.folder, "more.yaml").write_text("models: {twoo: null}\n")
    for done in (
        project.snakemake("-n", "--configfile", "config/config.yaml", "more.yaml"),
        project.biasgrid("run", "config/config.yaml", "more.yaml", "--dry-run"),
    ):
        says = "more.yaml: models: twoo: null leaves out a key of an earlier config, and none has 'twoo'; "
        refusal_of(done, says, "did you mean 'two'?")


RANKED = ["one", "two", "three", "debiased"]  # from the least biased on, as printed


def paper(project):
    """A study of three models, and a debiased copy that stands in for a published model; what is printed of four."""
    write_text_model(project.folder / "three.txt", GRID_WORDS, seed=3)
    config = grid_config() | {"metrics": {"weat": {}}, "published": ["printed.csv"]}
    config["models"]["three"] = {"path": "three.txt"}
    method = {"method": "hard", "models": ["one"], "published_as": {"one": "debiased"}, "criteria": ["First"]}
    words = {
        "definitional_pairs": [["a0", "b0"], ["a1", "b1"]],
        "equalize_pairs": [["a2", "b2"]],
        "ignore": ["a0"],
    }
    config["debias"] = {"First": {"hard": method | {"words": words}}}
    project.configure(config)
    rows = [f"paper,t,First,,weat,{model},rank,{rank},1,,,," for rank, model in enumerate(RANKED, 1)]
    (project.folder / "printed.csv").write_text(
        "\n".join([",".join(comparison.published.PUBLISHED), *rows]) + "\n"
    )


def compared(project, *overlays):
    project.run("results/small/comparison.csv", "--configfile", "config/config.yaml", *overlays)
    return pd.read_csv(project.folder / "results/small/comparison.csv").set_index("model")


@pytest.mark.slow
def test_a_published_file_takes_the_place_of_what_stands_in_for_it(project):
    """In word2vec's binary format, as the published model is."""
    paper(project)
    assert "one under hard" in compared(project).index
    vectors = np.random.default_rng(4).normal(size=(len(GRID_WORDS), 10)).astype(np.float32)
    (project.folder / "debiased.bin").write_bytes(binary(GRID_WORDS, vectors))
    change = {"debias": {}, "models": {"debiased": {"path": "debiased.bin"}}}
    (project.folder / "file.yaml").write_text(yaml.safe_dump(change))
    table = compared(project, "file.yaml")
    assert set(table.index) == set(RANKED)
    assert set(table["quantity"]) == {"rank"}
    # by NumPy, of the study's own scores
    scores = pd.read_csv(project.folder / "results/small/scores.csv").query("criterion == 'First'")
    distances = scores["value"].abs().groupby(scores["model"]).mean()
    assert table["ours"].to_dict() == distances.rank().to_dict()


@pytest.mark.slow
def test_ranks_are_compared_among_the_models_that_a_further_config_leaves(project):
    paper(project)
    change = {"models": {"two": None, "mine": {"path": "two.txt"}}}
    (project.folder / "fewer.yaml").write_text(yaml.safe_dump(change))
    table = compared(project, "fewer.yaml")
    assert set(table["quantity"]) == {"rank among models at hand"}
    assert table["published"].to_dict() == {"one": 1, "three": 2, "one under hard": 3}
    assert sorted(table["ours"]) == [1, 2, 3]
    assert table["note"].str.contains("among 3 of 4 printed models: debiased, one, three").all()
