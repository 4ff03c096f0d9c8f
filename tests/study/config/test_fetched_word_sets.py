"""Word sets whose words are elsewhere: fetched from a server of this machine, once, when a set is first used."""

import hashlib
import http.server
import json
from functools import partial

import made_thesis
import pytest
from conftest import biasgrid, grid_config
from loopback import started
from refusals import refused

from biasgrid.core.errors import NetworkError
from biasgrid.study.study import Study

WORDS = {"verbos": ["comer", "soñar"], "math 1": ["álgebra", "suma", "suma"], "other": ["x"]}
NAMES = {"verbos": "verbos", "math_1": "math 1"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of word sets whose words a server has, in served/words.json."""
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(tmp_path / "cache"))
    served = tmp_path / "served"
    served.mkdir()
    (tmp_path / "sets").mkdir()
    text = json.dumps(WORDS)
    (served / "words.json").write_text(text)
    with started(
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=served))
    ) as server:
        url = f"http://127.0.0.1:{server.server_port}/words.json"
        write(tmp_path, {"type": "url", "url": url, "sha256": hashlib.sha256(text.encode()).hexdigest()})
        yield tmp_path


def write(folder, source, names=NAMES):
    (folder / "sets" / "far.json").write_text(json.dumps({"source": source, "names": names}))


def source_of(folder):
    return json.loads((folder / "sets" / "far.json").read_text())["source"]


def study(folder, name="far.math_1"):
    query = {"targets": {"A": ["a0"], "B": ["b0"]}, "attributes": {"M": name, "V": "far.verbos"}}
    criteria = {"C": {"queries": {"q": query}}}
    config = grid_config() | {
        "criteria": criteria,
        "metrics": {"weat": {}},
        "word_sets": str(folder / "sets"),
    }
    return Study.of(config, root=folder)


@pytest.mark.filterwarnings("ignore:.*repeats")
def test_words_are_those_of_the_file_and_are_fetched_once(folder):
    math, verbs = study(folder).queries["q"].attribute_sets
    assert (list(math), list(verbs)) == (["álgebra", "suma", "suma"], ["comer", "soñar"])
    (folder / "served" / "words.json").unlink()
    assert list(study(folder).queries["q"].attribute_sets[1]) == ["comer", "soñar"]


def test_a_list_of_all_sets_fetches_none(folder):
    (folder / "served" / "words.json").unlink()
    config = folder / "study.yaml"
    query = {"targets": {"A": ["a0"], "B": ["b0"]}, "attributes": {"C": ["c0"], "D": ["d0"]}}
    criteria = {"C": {"queries": {"q": query}}}
    text = grid_config() | {"criteria": criteria, "metrics": {"weat": {}}, "word_sets": str(folder / "sets")}
    config.write_text(json.dumps(text))
    out = biasgrid("list", "word-sets", "--study", config, "--json").stdout
    assert {entry["name"]: entry["description"] for entry in json.loads(out)} == {
        "far.verbos": "fetched when it is first used",
        "far.math_1": "fetched when it is first used",
    }


def test_what_is_wrong_is_one_line(folder):
    place = "config: C: q: M: "
    with refused(place, "far.json: unknown word set 'math_2'; did you mean 'math_1'"):
        study(folder, "far.math_2")
    source = source_of(folder)
    write(folder, source, NAMES | {"math_1": "math 2"})
    with refused(place, "words.json: has no list of words 'math 2'"):
        study(folder)
    write(folder, source | {"sha256": "0" * 64})
    with refused(place, "sha256"):
        study(folder)
    (folder / "sets" / "far.json").write_text(json.dumps({"source": source}))
    with refused("far.json: not a word-set file"):
        study(folder)
    write(folder, source | {"url": source["url"].replace("words", "gone")})
    with refused(place, "404", "bring the file yourself", kind=NetworkError):
        study(folder)


def test_a_file_of_ones_own_takes_the_place_of_the_address(folder):
    made_thesis.write_seeds(folder / "own")
    config = grid_config() | {"metrics": {"weat": {}}, "word_sets": str(folder / "own" / "sets")}
    attributes = {"Math": "maddalozzo.math_1", "Arts": "maddalozzo.arts_1"}
    query = {"targets": {"A": ["a0"], "B": ["b0"]}, "attributes": attributes}
    config["criteria"] = {"C": {"queries": {"q": query}}}
    with pytest.warns(UserWarning, match="repeats"):
        made = Study.of(config, root=folder)
    assert list(made.queries["q"].attribute_sets[0]) == made_thesis.seeds()["math 1"]


def test_the_shipped_file_has_the_names_of_the_appendix():
    names = made_thesis.RECORD["names"]
    assert len(names) == 39
    assert all(key == name.replace(" ", "_") for key, name in names.items())
    assert made_thesis.RECORD["source"]["sha256"].startswith("ff0f5e5f43e9d393")
