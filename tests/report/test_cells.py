"""What a reader finds behind each score: from the study's files, and as HTML."""

import json
import re
import shlex
from html.parser import HTMLParser

import finished_study
import in_process
import jinja2
import numpy as np
import pandas as pd
import pytest
from conftest import biasgrid
from finished_study import HOSTILE, words

from biasgrid.measure import write_inference
from biasgrid.report import cell_html, cells, score_records

pytestmark = pytest.mark.slow
KEYS = ["criterion", "query", "metric", "model", "debias"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """It has lost words, words in capitals, sub-queries, all tests, and a metric without a permutation test."""
    with finished_study.copied(tmp_path_factory.mktemp("cells")) as study:
        yield study


@pytest.fixture(scope="module")
def read(study):
    return cells.read(cells.inputs(study), cells.spec(study))


@pytest.fixture(scope="module")
def of_key(read):
    return {key(read, record): record for record in read.records}


def key(read, record):
    question = read.questions[record.question]
    return question.criterion, question.query, question.metric, record.model, record.debias


def cell_results(study, result_of):
    """Key of a score -> its result in the files of cells, or of inference."""
    found = {}
    for cell in study.grid.cells.values():
        if result_of == "cells":
            results = json.loads(study.paths.cell_file(cell).read_text())["results"]
        else:
            records = json.loads(study.paths.inference_file(study.grid.inferences[cell.name]).read_text())[
                "cells"
            ]
            (results,) = (
                r["results"] for r in records if (r["query"], r["criterion"]) == (cell.query, cell.criterion)
            )
        for result in results:
            found.setdefault((cell.criterion, result["query"], cell.metric, cell.model, cell.debias), result)
    return found


def same(number, other):
    return number == other or (number is None and pd.isna(other))


def test_every_score_has_a_record_with_its_numbers(study, read):
    scores = pd.read_csv(study.paths.table_file("scores"))
    assert [key(read, r) for r in read.records] == list(scores[KEYS].itertuples(index=False, name=None))
    assert [r.number for r in read.records] == list(range(len(scores)))
    assert scores["value"].isna().any()
    # of the model that is sorted by frequency, and of a corpus
    assert set(scores.loc[scores["p_bands"].notna(), "model"]) == {"one", "corpus"}
    for record, row in zip(read.records, scores.itertuples(), strict=True):
        assert same(record.value, row.value)
        assert record.status == row.status
        interval = record.interval or {}
        assert same(interval.get("low"), row.ci_low)
        assert same(interval.get("high"), row.ci_high)
        for test, p, adjusted in (
            ("permutation", "p_value", "p_adjusted"),
            ("random_groups", "p_groups", "p_groups_adjusted"),
            ("frequency_bands", "p_bands", "p_bands_adjusted"),
            ("control_words", "p_controls", "p_controls_adjusted"),
        ):
            of_test = record.tests.get(test, {})
            assert same(of_test.get("p_value"), getattr(row, p))
            assert same(of_test.get("p_adjusted"), getattr(row, adjusted))
        found = [read.found[n] for n in record.targets + record.attributes]
        assert sum(len(f.lost) for f in found) == row.words_lost


def test_the_numbers_of_words_are_in_their_order(study, read, of_key):
    """Of each word of a set the number that the cell's file has of its entry, and the influence of the word."""
    measured, inferred = cell_results(study, "cells"), cell_results(study, "inference")
    details = {"weat": "association", "rnd": "distance_by_word", "mac": "targets_eval"}
    compared = 0
    for place, record in of_key.items():
        if record.value is None or place[2] not in details:
            continue
        result = measured[place]
        for number, (rows, values, left) in record.associations.items():
            name, words = read.sets[number]
            by_entry = result["detail"][details[place[2]]][name]
            assert {words[i] for i in rows} <= set(result["found"][name])
            assert len(rows) + left == len(result["found"][name])
            for word, value in zip((words[i] for i in rows), values, strict=True):
                whole = by_entry[result["found"][name][word][0]]
                whole = list(whole.values()) if isinstance(whole, dict) else whole
                assert value == pytest.approx(whole, rel=5e-4)
                compared += 1
        assert set(record.associations) == {
            read.found[n].set for n in (record.attributes if place[2] == "rnd" else record.targets)
        }
        for number, changes in record.influence.items():
            name, words = read.sets[number]
            expected = inferred[place]["influence"][name]
            assert {w: c for w, c in zip(words, changes, strict=True) if not np.isnan(c)} == pytest.approx(
                expected, rel=5e-4
            )
    assert compared > 100


def test_words_are_found_as_what_and_lost(read, of_key):
    """A0 is in no model, a0 is; what looks like markup is lost; each set is listed once."""
    record = of_key["First", "A and B wrt E and F", "weat", "one", "none"]
    first = read.found[record.targets[0]]
    assert (first.entries, first.lost) == ([["A0", "a0"]], [])
    assert read.sets[first.set] == ("A", ["A0", *(f"a{i}" for i in range(1, 8))])
    hostile = of_key["First", "A<i> and B wrt C and D", "weat", "two", "none"]
    assert read.found[hostile.targets[0]].lost == HOSTILE
    assert len({(name, *words) for name, words in read.sets}) == len(read.sets)


def test_a_missing_value_has_its_reason(read, of_key):
    """Model three has no word of F."""
    record = of_key["First", "A and B wrt E and F", "weat", "three", "none"]
    assert record.reason == "too many words are missing: F lacks 8 of 8 words; the study allows 20 %"
    assert (record.value, record.tests, record.interval) == (None, {}, None)
    sub = of_key["First", "A and B wrt E", "rnd", "three", "none"]  # without F it has one
    assert (sub.reason, sub.value is None) == ("", False)


def test_a_question_says_what_is_asked_with_the_names_of_its_sets(read, of_key):
    question = read.questions[of_key["Second", "C and D wrt E", "rnd", "one", "none"].question]
    assert question.asks == "Are the words of “E” nearer to the mean of “C” or to the mean of “D”?"
    assert (question.neutral, question.above) == (0.0, "the words of “E” are nearer to “D”")
    assert question.below == "the words of “E” are nearer to “C”"
    assert question.query_id == "q3"
    assert question.tests["permutation"] == "does it matter which target set a word is in?"
    labels = read.questions[of_key["Second", "C and D wrt E and A", "rnsb", "one", "none"].question]
    assert "It says nothing about the words of the target sets" in labels.tests["permutation"]
    no_test = read.questions[of_key["Second", "C and D wrt E and A", "mac", "one", "none"].question]
    assert no_test.tests["permutation"].startswith("none: MAC is a mean")
    grouped = list(read.of_questions())
    assert len(grouped) == len(read.questions)
    assert [r for _, records in grouped for r in records] == read.records


def test_anchors_tell_queries_apart():
    assert score_records.anchor("Gender", "A and B wrt C", "weat") == "cell/Gender/A-and-B-wrt-C/weat"
    names = [
        "A B",
        "A-B",
        "A  B",
        "a b",
        "A/B",
        "A#B",
        "A+",
        "A-",
        "É è",
        "E e",
        "性別",
        "A%20B",
        '"><b>',
        "A_B",
        " A B",
    ]
    found = {score_records.anchor("G", name, "weat") for name in names}
    assert len(found) == len(names)
    # as an id, and in a link, it stands for itself
    assert all(re.fullmatch(r"cell/G/[\w.~-]+/weat", text) for text in found)


def test_the_command_computes_the_score_again(study, read, of_key, monkeypatch):
    """As it is typed, in the study's folder: it is measured and inferred anew, and the files are the same."""
    record = of_key["First", "A<i> and B wrt C and D", "weat", "two", "none"]
    files = [study.results / "cells/two/none/weat/q1.json", study.results / "inference/two/none/weat.json"]
    before = [file.read_bytes() for file in files]
    files[0].unlink()
    inferred = []

    def counted(request, query, *arguments, **options):
        inferred.append(query.name)
        return infer(request, query, *arguments, **options)

    infer = write_inference.infer_query
    monkeypatch.setattr(write_inference, "infer_query", counted)
    name, *arguments = shlex.split(record.command)
    done = biasgrid(*arguments)
    assert (name, done.returncode) == ("biasgrid", 0), done.stderr
    assert inferred == ["A<i> and B wrt C and D"]
    assert [file.read_bytes() for file in files] == before
    assert json.loads(files[0].read_text())["results"][0]["value"] == record.value


def test_published_numbers_stand_by_their_score(study, read, tmp_path):
    """One of a query's score, one of the criterion's mean, one of another model."""
    lines = [
        "source,table,criterion,metric,model,quantity,published,ours,difference,verdict,note,origin,runs,sd,test,"
        "query_id,model_label",
        "P,t,First,weat,two,q1: value,1.5,1.25,-0.25,differs,,printed,,,,q1,Two",
        "P,t,First,weat,two,abs_avg,0.5,0.5,0.0,reproduced,,printed,,,,,Two",
        "P,t,First,weat,two,q9: value,3.0,,,not asked,,printed,,,,,Two",
        "P,t,First,weat,one,q1: value,7.0,,,no value,,printed,,,,q1,One",
    ]
    (tmp_path / "comparison.csv").write_text("\n".join(lines) + "\n")
    files = cells.inputs(study) | {"comparison": tmp_path / "comparison.csv"}
    found = cells.read(files, cells.spec(study))
    records = {key(found, r)[1:4]: r for r in found.records}
    two = records["A<i> and B wrt C and D", "weat", "two"]
    assert [(p["quantity"], p["published"], p["ours"], p["verdict"]) for p in two.published] == [
        ("value", 1.5, 1.25, "differs")
    ]
    assert [p["ours"] for p in records["A<i> and B wrt C and D", "weat", "one"].published] == [None]
    assert records["A and B wrt E and F", "weat", "two"].published == []
    html = shown(found, "two")
    assert "score 1.500, here 1.250: differs" in html
    # the number of the topic is among the published numbers
    assert "0.5000" not in html


class Parts(HTMLParser):
    """Tags by name with their attributes, and the text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.setdefault(tag, []).append(dict(attributes))

    def handle_data(self, data):
        self.text += data


def shown(read, model=None):
    """The scores as HTML, or those of a model."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("biasgrid.report"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    cell_html.install(environment)
    macros = environment.get_template("cells.html").module
    parts = [
        macros.question(
            question, [r for r in records if model in (None, r.model)], read, {"weat": "WEAT & co"}
        )
        for question, records in read.of_questions()
    ]
    return str.join("", [*parts, macros.tests(list(read.of_questions())), macros.word_sets(read)])


def test_what_limits_a_score_stands_beside_it(tmp_path, monkeypatch):
    """Of one word per set a permutation test has p = 1, and the words cannot be left out."""
    monkeypatch.chdir(tmp_path)
    query = {"targets": {"A": ["a0"], "B": ["b0"]}, "attributes": {"C": words("c"), "D": [*words("d"), "b0"]}}
    made = in_process.make(
        finished_study.other(
            tmp_path,
            criteria={"First": {"queries": {"q1": query}}},
            metrics={"weat_es": {"params": {"one_word": "keep"}}, "sc_weat": {}},
            inference={"permutation": {}, "bootstrap": {"draws": 20}},
            models={name: finished_study.CONFIG["models"][name] for name in ("one", "two", "three")},
            debias={},
        )
    )
    read = cells.read(cells.inputs(made), cells.spec(made))
    parts = Parts(shown(read)).text
    models = len(made.models)
    assert parts.count("(two sets of one word each fix its size by construction)") == models
    assert parts.count("two sets of one word each fix its size by construction") == 2 * models
    assert parts.count("p = 1, lowest possible p 1") == models
    assert parts.count("none: a set has one word, which cannot be left out") == models
    assert parts.count("'b0' in 'B' and 'D'") == 2


def test_as_html_every_score_is_there_once_and_words_are_no_markup(read):
    html = shown(read)
    parts = Parts(html)
    ids = [a["id"] for of_tag in parts.tags.values() for a in of_tag if "id" in a]
    assert len(ids) == len(set(ids))
    assert {r.anchor for r in read.records} | {q.anchor for q in read.questions} <= set(ids)
    assert all(link["href"].removeprefix("#") in ids for link in parts.tags["a"])
    # and a definition of each question
    assert len(parts.tags["details"]) == len(read.records) + len(read.questions) + len(read.sets)
    assert not any("open" in a for a in parts.tags["details"])
    # words, names and labels of users
    assert not {"script", "img"} & set(parts.tags)
    assert set(parts.tags["i"][0]) == set()
    assert HOSTILE[0] in parts.text
    assert "A<i> and B wrt C and D" in parts.text
    assert "WEAT & co: " in parts.text
    # tests that count as evidence have histograms
    drawn = [
        t
        for r in read.records
        for name, t in r.tests.items()
        if name in read.questions[r.question].of_words
        and len((t.get("histogram") or {"counts": []})["counts"]) > 1
    ]
    data = [a["data-h"].split("|") for a in parts.tags["dd"] if "data-h" in a]
    assert len(data) == len(drawn) > 10
    assert {(len(part), len(part[2])) for part in data} == {(6, 20)}
    assert "style" not in html
    assert "none: MAC is a mean" in parts.text


def test_a_histogram_is_drawn_to_scale(read):
    """Heights of bars are shares of the highest, the line is where the score is."""
    drawn = cell_html.histogram(made([0] * 38 + [30, 10], observed=9.0))
    assert drawn["bars"] == "0" * 19 + "g"
    assert float(drawn["place"]) == pytest.approx(0.9 * 80)
    few = cell_html.histogram(made([4, 4, 2, 2, 0, 0] + [0] * 33 + [1], observed=0.0))
    # 8, 4, 0, ..., 1 in pairs
    assert few["bars"] == "g8" + "0" * 17 + "2"
    assert float(few["place"]) == 0
    # a value among thousands is seen
    assert cell_html.histogram(made([5000, 5000] + [0] * 37 + [1], 1.0))["bars"][-1] == "1"
    assert cell_html.histogram(made([7], 1.0)) is None


@pytest.mark.parametrize(
    ("alternative", "observed", "neutral", "tails"),
    [
        ("greater", 9.0, 0.0, [("72", "80")]),
        ("less", 9.0, 0.0, [("0", "72")]),
        # the tail on the score's side
        ("two-sided", 9.0, 5.0, [("72", "80")]),
        ("two-sided", 2.0, 5.0, [("0", "16")]),
        # both tails as far from no bias
        ("distance", 9.0, 5.0, [("0", "8"), ("72", "80")]),
        ("distance", 9.0, 0.0, [("72", "80")]),
    ],
)
def test_the_shaded_part_of_a_histogram_is_what_the_p_value_counts(alternative, observed, neutral, tails):
    drawn = cell_html.histogram(made([1] * 40, observed, alternative), neutral)
    assert drawn["tails"] == tails


def made(counts, observed, alternative="greater"):
    histogram = {"low": 0.0, "high": 10.0, "counts": counts}
    return {"histogram": histogram, "observed": observed, "alternative": alternative}


def test_many_words_are_cut_and_few_are_not():
    names = [f"w{i}" for i in range(30)]
    sets = [("many", names), ("few", names[:3]), ("both", names[:2])]
    numbers = [np.arange(30.0)[:, None], [[-1.0], [np.nan], [1.0]], [[0.5, 0.25], [0.5, 0.125]]]
    values = {i: cells.ends(np.array(of_words)) for i, of_words in enumerate(numbers)}
    record = score_records.Record(
        0, 0, "m", "none", 1.0, "ok", "", [0], [1], values,
        {0: 0.001 * np.arange(30), 1: np.array([-0.5, np.nan, 0.25])}, {}, "untested", None, None, [], "",
    )  # fmt: skip
    read = score_records.Cells(sets, [], [], [record])
    many, few, both = cell_html.associations(record, read)
    space = "\N{NO-BREAK SPACE}"
    assert [text.split(space)[0] for text in many[1]] == ["w29", "w28"]
    assert (many[2], [text.split(space)[0] for text in many[3]]) == (26, ["w1", "w0"])
    assert few == ("few", [f"w2{space}1.0", f"w0{space}−1.0"], 0, [])
    # of two numbers, by their difference
    assert both[1] == [f"w1{space}0.50/0.12", f"w0{space}0.50/0.25"]
    by_set, others, most = cell_html.influences(record, read)
    assert [(name, [text.split(space)[0] for text in texts]) for name, texts in by_set] == [
        ("many", ["w29", "w28", "w27"]),
        ("few", ["w0", "w2"]),
    ]
    assert (others, most) == (27, pytest.approx(0.026))
    # of a page of thousands of scores, fewer
    large = score_records.Cells(sets, [], [], [record] * (score_records.MANY + 1))
    assert cell_html.influences(record, large)[1] == 28
    assert cell_html.lost_shown(large) < cell_html.lost_shown(read)


def test_words_of_other_scripts_have_a_direction_and_a_language():
    assert cell_html.bdi("science", "en") == "science"
    assert cell_html.bdi("علم", "ar") == '<bdi lang="ar">علم</bdi>'
    assert cell_html.bdi("<数学>") == "<bdi>&lt;数学&gt;</bdi>"
    # a number stays outside: its minus sign would change sides
    assert (
        cell_html._entry(cell_html.bdi("علم", "ar"), "−0.1")
        == '<bdi lang="ar">علم</bdi>\N{NO-BREAK SPACE}−0.1'
    )
