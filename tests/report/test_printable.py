"""Labels and names of the longest and oddest texts, from the config to the page; what is not allowed is one line."""

import json
from pathlib import Path

import pytest
from conftest import GRID_WORDS, grid_config, write_text_model
from in_process import make
from odd_texts import odd
from refusals import refused
from test_page import Page

import biasgrid as bg
from biasgrid.study.study import Study

OVERRIDES = [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
CONTROLS = ["\x1b[31m", "\x07", "\x9b", "\n", "\t", "\u2028", "\u200e", "\u200f", "\ufeff"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("one", "two")):
        write_text_model(Path(f"{name}.txt"), GRID_WORDS, seed=seed)
    Path("data/word_sets").mkdir(parents=True)
    sets = {letter: [f"{letter}{i}" for i in range(4)] for letter in "ef"}
    Path("data/word_sets/toy.json").write_text(json.dumps({"sets": sets, "paper": odd("paper")}))
    return tmp_path


def odd_config():
    config = grid_config() | {"inference": {"permutation": {"exact": 100}}}
    config["metrics"] = {key: {"label": odd(key)} for key in ("weat", "rnd")}
    for key, model in config["models"].items():
        model["label"] = odd(key)
    query = config["criteria"]["First"]["queries"]["q1"]
    for side in ("targets", "attributes"):
        query[side] = {odd(name): words for name, words in query[side].items()}
    config["criteria"] = {
        odd(name, 100).replace("/", "|"): entry for name, entry in config["criteria"].items()
    }
    return config


@pytest.mark.slow
def test_the_page_of_odd_texts_is_whole(folder):
    study = make(Study.of(odd_config()))
    text = study.paths.report_file.read_text(encoding="utf-8")
    page = Page(text)
    assert not page.wrong
    assert not page.open
    assert page.scripts == 2
    assert odd("one").split("<b>")[0] in text
    assert "<b>&amp; " not in text.partition("<pre")[0]  # escaped once more
    # and the same is read back
    assert bg.open_study(study.results).study.models["one"]["label"] == odd("one")


PLACES = {
    "models: one: label: ": lambda config, text: config["models"]["one"].update(label=text),
    "metrics: weat: label: ": lambda config, text: config["metrics"].update(weat={"label": text}),
    "criteria: ": lambda config, text: config["criteria"].update({text: config["criteria"].pop("First")}),
    "study: ": lambda config, text: config.update(study=text),
    "First: queries: q1: name: ": lambda config, text: config["criteria"]["First"]["queries"]["q1"].update(
        name=text
    ),
    "First: q1: ": lambda config, text: config["criteria"]["First"]["queries"]["q1"]["targets"].update(
        {text: ["a"]}
    ),
    "models: one: note: ": lambda config, text: config["models"]["one"].update(note=text),
    "First: queries: q1: targets: A": lambda config, text: config["criteria"]["First"]["queries"]["q1"][
        "targets"
    ]["A"].append(text),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sign", ["\x1b", "\u202e", "\u2067"])
def test_a_text_that_acts_on_what_shows_it_is_one_line_with_file_and_key(folder, place, sign):
    config = grid_config()
    PLACES[place](config, f"abc{sign}def")
    with refused("x.yaml: ", place.strip(": ").split(": ")[0], f"U+{ord(sign):04X}"):
        Study.of(config, "x.yaml")


@pytest.mark.parametrize("sign", OVERRIDES + CONTROLS)
def test_no_label_and_no_name_has_a_sign_that_is_not_printed(folder, sign):
    config = grid_config()
    config["models"]["one"]["label"] = f"abc{sign}def"
    with refused("x.yaml: ", f"U+{ord(sign[0]):04X}"):
        Study.of(config, "x.yaml")
    with refused("query's name must be a line of text, not"):
        bg.Query([["a"], ["b"]], [["c"]], name=f"abc{sign}def")
    query, model = bg.Query([["a"], ["b"]], [["c"]]), bg.load({"a": [1.0], "b": [2.0], "c": [1.0]}, name="m")
    with refused("models: a model's name must be a line of text, not", f"U+{ord(sign[0]):04X}"):
        bg.measure_grid(["rnd"], [query], {f"abc{sign}def": model}, progress=False)


@pytest.mark.parametrize("place", [place for place in PLACES if "note" not in place and "A" not in place])
def test_a_label_and_a_name_have_at_most_200_characters(folder, place):
    config = grid_config()
    PLACES[place](config, "x" * 201)
    with refused("x.yaml: ", "1 to 100 characters" if place == "criteria: " else "at most"):
        Study.of(config, "x.yaml")


@pytest.mark.slow
def test_texts_of_word_sets_and_of_strangers_results_are_checked(folder):
    Path("data/word_sets/toy.json").write_text('{"sets": {"e": ["e0"], "f": ["f\\u202e0"]}}')
    with refused("toy.json: sets: f: ", "U+202E"):
        Study.of(grid_config())
    Path("data/word_sets/toy.json").write_text('{"sets": {"e": ["e0"], "f\\u202e": ["f0"]}}')
    with refused("toy.json: sets: ", "has the character U+202E"):
        Study.of(grid_config())
    Path("data/word_sets/toy.json").write_text('{"sets": {"e": ["e0", "e1"], "f": ["f0", "f1"]}}')
    study = make(Study.of(grid_config() | {"metrics": {"weat": {}}}))
    scores = study.paths.table_file("scores")
    text = scores.read_text()
    scores.write_text(text.replace("Model one", "Model \x1b[31mone"))
    with refused("scores.csv: ", "has the character U+001B"):
        bg.open_study(study.results).scores  # noqa: B018
    scores.write_text(text)
    path = study.results / "study.json"
    path.write_text(path.read_text().replace("Model one", "Model \u202eone"))
    with refused("study.json: models: one: label: ", "U+202E"):
        bg.open_study(study.results)
    query = study.paths.query_file("q1")
    path.write_text(path.read_text().replace("Model \u202eone", "Model one"))
    query.write_text(query.read_text().replace('"A"', f'"{"A" * 201}"'))
    with refused("q1.json: ", "at most 200 characters"):
        bg.open_study(study.results)
