"""May et al.'s tests of SEAT: fetched from a server of this machine, with sentences written for this test."""

import csv
import hashlib
import http.server
import json
import warnings
from functools import partial

import pytest
import yaml
from conftest import ROOT
from loopback import started
from refusals import refused

from biasgrid import BiasgridError
from biasgrid.core.errors import NetworkError
from biasgrid.study.config import load, seat
from biasgrid.study.config.criteria import Query as Entry

ROLES = ("targ1", "targ2", "attr1", "attr2")
WORDS = {
    "targ1": ("Flowers", ["rose", "lily", "daisy"]),
    "targ2": ("People", ["woman of colour", "her", "hers"]),
    "attr1": ("Good", ["parents", "joy"]),
    "attr2": ("Bad", ["South bridge", "bridge", "child"]),
}
SENTENCES = {
    "targ1": (
        "Flowers",
        ["This is a rose.", "Roses are here.", "The lilies are there.", "A Lily is a thing."],
    ),
    "targ2": ("People", ["They are women of colour.", "It is hers.", "This is her."]),
    "attr1": ("Good", ["This is a parent.", "Parents are here.", "It is joy."]),
    "attr2": ("Bad", ["A South bridge is here.", "The bridges are there.", "These are children."]),
}
MADE_OF = (
    ("rose", "rose", "lily", "lily"),
    ("woman of colour", "hers", "her"),
    ("parents", "parents", "joy"),
    ("South bridge", "bridge", "child"),
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def files(tmp_path, monkeypatch):
    """name, sets -> the server has this test; its sha256 is known as long as `content` is not given."""
    known: dict[str, str] = {}
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    monkeypatch.setattr(seat, "checksums", lambda: known)

    def put(name, sets):
        text = json.dumps({role: {"category": sets[role][0], "examples": sets[role][1]} for role in ROLES})
        (folder / f"{name}.jsonl").write_text(text)
        known[name] = hashlib.sha256(text.encode()).hexdigest()
        return folder / f"{name}.jsonl"

    with started(
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    ) as server:
        monkeypatch.setattr(seat, "FOLDER", f"http://127.0.0.1:{server.server_port}")
        yield put


def test_a_test_of_sentences_is_made_of_the_words_of_its_test_of_words(files):
    paths = [files("odd_1+3-", WORDS), files("sent-odd_1+3-", SENTENCES)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query = load._query(Entry(seat="sent-odd_1+3-"), None, "here", None, ROOT)
    # the words and their sentences have sets of one name
    assert query.name == "Flowers and People wrt Good and Bad (sent-odd 1+3-)"
    sets = (*query.target_sets, *query.attribute_sets)
    assert [list(s) for s in sets] == [texts for _, texts in SENTENCES.values()]
    assert tuple(s.of for s in sets) == MADE_OF
    # fetched once
    for path in paths:
        path.unlink()
    seat._read.cache_clear()
    assert load._query(Entry(seat="sent-odd_1+3-"), None, "here", None, ROOT) == query
    words = load._query(Entry(seat="odd_1+3-"), None, "here", None, ROOT)
    assert words.name == "Flowers and People wrt Good and Bad (odd 1+3-)"
    assert [(list(s), s.of) for s in words.target_sets] == [
        (texts, ()) for _, texts in list(WORDS.values())[:2]
    ]


def test_a_sentence_without_any_of_the_words_is_drawn_by_itself_and_warned_of(files):
    files("odd", WORDS | {"attr1": ("Good", ["joy", "peace"])})
    files("sent-odd", SENTENCES)
    with pytest.warns(UserWarning, match="sent-odd: 2 sentences have none of the words of odd"):
        targets, attributes = seat.seat_sets("sent-odd", "here")
    assert attributes["Good"].units == ("This is a parent.", "Parents are here.", "joy")
    assert targets["Flowers"].units == ("rose", "lily")


def test_what_is_not_the_authors_file_is_refused_in_one_line(files, monkeypatch):
    changed = files("changed", WORDS)
    changed.write_text(changed.read_text() + "\n")
    cases = [("changed", BiasgridError, "sha256"), ("weat2", BiasgridError, "seat: unknown test 'weat2'")]
    files("gone", WORDS).unlink()
    cases.append(("gone", NetworkError, "404"))
    for name, kind, says in cases:
        with refused(*says.split(" .* "), "criteria: q: seat: ", kind=kind):
            seat.seat_sets(name, "criteria: q")
    with pytest.raises(ValueError, match="has both a test of SEAT and sets"):
        Entry(seat="weat1", targets={"A": ["a"]})


def test_every_test_of_the_paper_is_a_query():
    with open(ROOT / "data" / "seat" / "files.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    config = yaml.safe_load((ROOT / "config" / "queries" / "seat_files.yaml").read_text())
    queries = config["SEAT (May et al.)"]["queries"]
    assert [row["name"] for row in rows] == sorted(entry["seat"] for entry in queries.values())
    assert set(seat.checksums()) == {row["name"] for row in rows}
    assert len(rows) == 46
    # a test of sentences has its test of words
    names = set(seat.checksums())
    assert {name.removeprefix("sent-") for name in names if name.startswith("sent-")} < names
    # what is printed is of these queries
    with open(ROOT / "data" / "published" / "seat_may.csv", newline="") as file:
        assert {row["query"] for row in csv.DictReader(file)} < set(queries)
