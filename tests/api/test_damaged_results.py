"""A finished study with an edited or damaged file: every door says so, or answers in one line that names the file."""

import json
import shutil
import warnings

import finished_study
import pytest
from conftest import biasgrid
from refusals import refused

from biasgrid import BiasgridError, open_study
from biasgrid.study import checksums

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with finished_study.copied(folder):
        yield folder / "results" / "small"


@pytest.fixture
def edit(made):
    """Edit a file of the results; it is as it was when the test ends."""
    before = {}

    def edit(name, change):
        before.setdefault(name, (made / name).read_bytes())
        text = (made / name).read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        (made / name).write_text(changed, encoding="utf-8")

    yield edit
    for name, content in before.items():
        (made / name).write_bytes(content)


def nudged(text):
    """The first number below 1 of a table, with another first digit."""
    return text.replace(",0.", ",0.1", 1)


def changed_record(change):
    def changed(text):
        record = json.loads(text)
        change(record)
        return json.dumps(record)

    return changed


SAID = "scores.csv: changed since the study was run (the checksum differs)"


def test_an_edited_table_is_said_on_the_page_and_in_the_terminal(made, edit, tmp_path):
    edit("scores.csv", nudged)
    done = biasgrid("report", "results/small", "--output", str(tmp_path / "page.html"))
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert SAID in done.stderr
    assert SAID in (tmp_path / "page.html").read_text(encoding="utf-8")
    shutil.copytree(made, tmp_path / "other")
    checksums.record_all(tmp_path / "other")
    done = biasgrid("compare", str(tmp_path / "other"), "results/small", "--output", str(tmp_path / "c.html"))
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert SAID in done.stderr
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "Changed files of B" in page
    assert "Changed files of A" not in page


@pytest.mark.parametrize(
    "name",
    ["scores.csv", "pairs.csv", "cells/one/none/weat/q1.json", "inference/two/none/mac.json", "study.json"],
)
def test_an_edited_file_is_said_to_whoever_opens_the_study(made, edit, name):
    edit(name, nudged if name.endswith(".csv") else lambda text: f"{text} ")
    with pytest.warns(UserWarning, match=f"{name}: changed since the study was run") as caught:
        open_study(made)
    assert caught[0].filename == __file__


def test_nothing_is_said_of_a_whole_study_nor_of_what_has_no_record(made, edit):
    edit(
        "checksums.sha256",
        lambda text: "".join(line for line in text.splitlines(True) if "scores" not in line),
    )
    edit("scores.csv", nudged)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_study(made)


def test_damaged_checksums_are_one_line(made, edit):
    edit("checksums.sha256", lambda text: text[:-10])
    with refused("checksums.sha256: the checksums are cut off", "run the study again"):
        open_study(made)


@pytest.mark.parametrize(
    ("table", "was", "now", "says"),
    [
        (
            "scores",
            ",one,",
            ",four,",
            "'four' / 'hard': study.json has no such criterion / query / metric / model",
        ),
        ("scores", "First,", "Third,", "line 2: 'Third' / "),
        ("scores", ",q5,q5,", ",q50,q5,", "query_id: 'q50': study.json has no such query"),
        ("rankings", ",weat,", ",waet,", "study.json has no such criterion / metric / model / debias"),
        (
            "pairs",
            ",models,one,",
            ",models,eno,",
            "study.json has no such criterion / metric / model / debias",
        ),
    ],
)
def test_a_row_that_the_study_cannot_have_is_one_line(made, edit, table, was, now, says):
    edit(f"{table}.csv", lambda text: text.replace(was, now, 1))
    with pytest.warns(UserWarning, match="checksum differs"):
        study = open_study(made)
    with refused(f"{table}.csv: line ", says, "run the study again"):
        study.frame(table)


def test_a_pair_of_models_that_is_gone_is_one_line(made, edit):
    edit(
        "pairs.csv", lambda text: "".join(x for x in text.splitlines(True) if ",models,one,none,two" not in x)
    )
    with pytest.warns(UserWarning, match="checksum differs"):
        study = open_study(made)
    with refused("pairs.csv: no row compares", 'biasgrid step "table pairs" --study CONFIG'):
        study.summary()


CELL, INFERENCE = "cells/one/none/weat/q1.json", "inference/one/none/weat.json"


def result(record):
    return record.get("cells", [record])[0]["results"][0]


CASES = [
    (CELL, lambda r: r.update(model="two"), "it is of two/none/weat/q1"),
    (CELL, lambda r: r.pop("versions") and r.update(versions=None), "versions: None is not a mapping"),
    (CELL, lambda r: result(r).update(value=None), "the value is None, and the status 'ok'"),
    (CELL, lambda r: result(r).update(detail=[]), "detail: [] is not a mapping"),
    (CELL, lambda r: result(r)["detail"]["association"].update(B=3), "association: B: 3 is not a mapping"),
    (CELL, lambda r: result(r)["found"]["B"].update(b0=[]), "found: B: b0: is empty"),
    (CELL, lambda r: result(r)["scalars"].update(weat="x"), "scalars: weat: 'x' is not a number"),
    (CELL, lambda r: result(r)["found"].pop("B"), "is not what queries/q1.json asks"),
    (CELL, lambda r: result(r)["lost"].pop("C"), "is not what queries/q1.json asks"),
    (CELL, lambda r: result(r).update(words_used=-1), "words_used: -1 is not allowed"),
    (CELL, lambda r: r.pop("params"), "key 'params' is missing"),
    (CELL, lambda r: r.pop("words"), "key 'words' is missing"),
    (INFERENCE, lambda r: r.update(cells=[]), "it has no cells"),
    (INFERENCE, lambda r: r.update(cells=None), "it has no cells"),
    (INFERENCE, lambda r: r["cells"][0].update(metric="mac"), "it is of one/none/mac"),
    (INFERENCE, lambda r: r["cells"][0].pop("function"), "key 'function' is missing"),
    (INFERENCE, lambda r: r["cells"][0].update(inference=None), "inference: None is not a mapping"),
    (INFERENCE, lambda r: result(r).update(permutation=None), "permutation: None is not a mapping"),
    (INFERENCE, lambda r: result(r)["random_groups"].update(p_value=1.5), "p_value: 1.5 is not allowed"),
    (
        INFERENCE,
        lambda r: result(r)["permutation"].pop("draws"),
        "a p-value without p_lowest, draws and method",
    ),
    (INFERENCE, lambda r: result(r)["bootstrap"].update(jackknife=[1]), "jackknife: [1] is not allowed"),
    (INFERENCE, lambda r: result(r)["influence"].update(B=[]), "influence: B: [] is not a mapping"),
    (INFERENCE, lambda r: result(r).update(reliability={}), "reliability: {} is not a list"),
]


@pytest.mark.parametrize(("name", "change", "says"), CASES)
def test_a_damaged_record_is_one_line_that_names_it(edit, tmp_path, name, change, says):
    edit(name, changed_record(change))
    done = biasgrid("report", "results/small", "--output", str(tmp_path / "page.html"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert name in done.stderr
    assert says in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_no_table_is_made_of_a_damaged_cell(made, edit):
    edit(CELL, changed_record(lambda r: result(r)["detail"]["association"].update(B=3)))
    (made / "scalars.csv").rename(made / "kept")
    try:
        with pytest.warns(UserWarning, match="checksum differs"):
            study = open_study(made)
        with pytest.raises(BiasgridError, match=f"{CELL}: not a cell file"):
            study.frame("scalars")
    finally:
        (made / "kept").rename(made / "scalars.csv")
