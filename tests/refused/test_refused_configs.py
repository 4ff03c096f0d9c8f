"""Configs that are refused: the key, what is wrong with it, and what is allowed."""

import pytest
import yaml
from conftest import grid_config
from refusals import row, table, written

from biasgrid.study.study import Study

FIRST = grid_config()["criteria"]["First"]
ONE = grid_config()["models"]["one"]
Q1, Q2 = FIRST["queries"].values()
SHOWN = "query id 'q1' occurs twice; it is also in one.yaml; ids are unique"
HARD = {
    "method": "hard",
    "label": "Hard debias",
    "words": {"definitional_pairs": [["a0", "b0"], ["a1", "b1"]]},
}
PHENOMENA = {"P": {"words": ["w"], "reason": "a test"}}
NO = "study: s\nmodels: {m: {label: M, source: {type: file, path: v}}}\nmetrics: {weat: {}}\ncriteria: g.yaml\n"


def study(**keys):
    """Return a call that reads a study whose config has these keys instead."""
    return lambda root: Study.of(grid_config() | keys, root=root)


def of_criterion(**keys):
    """Return a call that reads a study whose first criterion has these keys, too."""
    return study(criteria=grid_config()["criteria"] | {"First": FIRST | keys})


def of_model(**keys):
    """Return a call that reads a study whose first model has these keys, too."""
    return study(models=grid_config()["models"] | {"one": ONE | keys})


def with_files(files, **keys):
    """Return a call that reads a study of a config that includes files."""
    return lambda root: (
        [written(root / name, yaml.safe_dump(text)) for name, text in files.items()] and study(**keys)(root)
    )


def mine(criterion, name="First"):
    """Return a call that reads a study of two files of criteria."""
    files = {"one.yaml": {"First": FIRST | {"words": {"strategy": "all"}}}, "mine.yaml": {name: criterion}}
    return with_files(files, criteria=["one.yaml", "mine.yaml"])


@table(
    *(row(f"seed {x}", study(seed=x), "config: seed: ", "is not a whole number") for x in (True, 2020.5)),
    *(
        row(f"study {name[:3]!r}", study(study=name), "config: study: ", "allowed: letters, digits")
        for name in ("x" * 101, "", "a/b", "ä", ".a")
    ),
    row(
        "name of a criterion", study(criteria={"c" * 101: FIRST}), "config: criteria: ", "1 to 100 characters"
    ),
    row("criterion without queries", study(criteria={"First": {}}), "First: key 'queries' is missing"),
    row(
        "plugin that is not there",
        study(plugins=["absent"]),
        "config: plugins: ",
        "absent: no such file or folder",
    ),
    row(
        "misspelt plugin",
        study(plugins=["npn"]),
        "config: plugins: ",
        "npn: no such file or folder; did you mean 'npm'? with biasgrid come: ",
    ),
    row("plugins that are no list", study(plugins="mine"), "config: plugins: 'mine' is not a list"),
    row("model that is a number", study(models=[3]), "config: models: 3 is not a mapping or a file's path"),
    row(
        "unknown model",
        study(models=["glove-6b-5"]),
        "config: models: unknown model 'glove-6b-5'; did you mean 'glove-6b-50d'?",
        "or the path of",
    ),
    row(
        "model that is listed twice",
        study(models=["glove-6b-50d", "glove-6b-50d"]),
        "config: models: 'glove-6b-50d' is defined twice",
    ),
    row(
        "model of two files",
        with_files({"m.yaml": {"one": ONE}}, models=["m.yaml", {"one": ONE}]),
        "config: models: 'one' is defined twice",
    ),
    row(
        "key of a model's file",
        with_files({"m.yaml": {"one": {"lable": "x"}}}, models=["m.yaml"]),
        "m.yaml: one: unknown key 'lable'; did you mean 'label'?",
    ),
    row(
        "size of a download",
        of_model(download_mb="5"),
        "config: models: one: download_mb: '5' is not a whole number",
    ),
    row("order of a model's words", of_model(sorted="no"), "models: one: sorted: 'no' is not true or false"),
    row(
        "other value in a second file",
        mine({"queries": {"mine": Q1}, "words": {"strategy": "first"}}),
        "mine.yaml: First: words: has another value in one.yaml; give it once",
    ),
    row("id of two files", mine({"queries": {"q1": Q2}}), f"mine.yaml: First: {SHOWN}"),
    row("id of two criteria", mine({"queries": {"q1": Q2}}, "Third"), f"mine.yaml: Third: {SHOWN}"),
    row(
        "id of a phenomenon",
        of_criterion(
            queries={"first_p": Q1},
            phenomena={"groups": {"A": ["a0"], "B": ["b0"]}, "sets": PHENOMENA},
        ),
        "query id 'first_p' occurs twice",
    ),
    row(
        "key of a language",
        study(languages=[{"language": "fr", "nom": "French"}]),
        "config: languages: 0: unknown key 'nom'",
    ),
    row(
        "word that YAML reads as a truth value, in an included file",
        lambda tmp_path: (
            written(tmp_path / "g.yaml", "G:\n  queries:\n    q: {targets: {A: [he], B: [no, she]}}\n")
            and Study.read(written(tmp_path / "x.yaml", NO), root=tmp_path)
        ),
        "g.yaml: G: queries: q: targets: B: 0: line 3: YAML reads ",
        '"no"',
    ),
    row(
        "corpus without a source",
        with_files({"corpora.yaml": {"other": {}}}, corpora="corpora.yaml"),
        "corpora.yaml: other: key 'source' is missing",
    ),
    row(
        "criterion that names a model of another language",
        study(
            models=grid_config()["models"] | {"one": ONE | {"language": "fr"}},
            criteria=grid_config()["criteria"]
            | {"First": FIRST | {"language": "en", "models": ["one", "two"]}},
        ),
        "config: First: models: one is in a different language (fr) than the criterion (en)",
    ),
    row("query ranks", study(query_ranks="often"), "query_ranks"),
    row("figure of query ranks", study(figures=["query-ranks"]), "query-ranks", "query_ranks: true"),
    row(
        "figure of seed lists",
        study(figures=["seed-lists"]),
        "'seed-lists' needs a criterion with seed_lists",
    ),
    row(
        "figure of trainings",
        study(figures=["trainings"], plugins=["training"]),
        "'trainings' needs trainings",
    ),
    row(
        "figure of projections",
        study(figures=["projections"]),
        "figures: 'projections' needs a criterion with a table of words",
    ),
    row(
        "word of two genders",
        of_criterion(genders={"m": ["a0", "a1"], "f": ["a1"]}),
        "config: criteria: First: genders: ",
        "a1",
        "more than one gender",
    ),
    row(
        "word set of a gender",
        of_criterion(genders={"m": "weat.no_such"}),
        "config: criteria: First: genders: m: ",
        "no_such",
    ),
    row(
        "alternative of a test",
        study(inference={"permutation": {"alternative": "both"}}),
        "inference: permutation: alternative",
    ),
    row(
        "two debias methods of one label",
        study(debias={"First": {"hard": HARD}, "Second": {"other": HARD}}),
        "hard has the label 'Hard debias'",
    ),
)
@pytest.mark.filterwarnings("ignore:.*repeats")
def test_a_config_is_refused(refusal, request):
    refusal.check(request)
