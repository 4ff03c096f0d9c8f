"""docs/reference/files.md has every key of the files that biasgrid writes, and no key that they lack."""

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import finished_study
import numpy as np
import pytest
from conftest import ROOT, write_text_model
from in_process import make_inputs

from biasgrid import load
from biasgrid.debias import hard
from biasgrid.debias.transform import ARRAYS
from biasgrid.study.steps import evaluation_step, frequency_step
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow


@cache
def documented(section: str) -> dict[str, str]:
    """Key -> meaning, of a section's table."""
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"^#+ {re.escape(section)}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) ?\|$", text, re.MULTILINE))


def paths(entry, known, at=""):
    """The places of keys in a record, as the page writes them; below a key that the page says all of, none."""
    if isinstance(entry, list):
        for part in entry:
            yield from paths(part, known, f"{at}[]")
    elif isinstance(entry, dict):
        every = f"{at}.*" if at else "*"
        for key, part in entry.items():
            whole = f"{at}.{key}" if at else key
            place = every if any(path == every or path.startswith(f"{every}.") for path in known) else whole
            inner = any(path.startswith((f"{place}.", f"{place}[].")) for path in known)
            if not inner or place in known:
                yield place
            if inner:
                yield from paths(part, known, place)


def check(section: str, *records) -> None:
    known = documented(section)
    found = {place for record in records for place in paths(record, known)}
    assert not found - known.keys(), f"{section}: keys that the page lacks"
    missing = {key for key in known.keys() - found if not known[key].startswith("optional")}
    assert not missing, f"{section}: keys that no file has"


@pytest.fixture(scope="module")
def study():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(finished_study.finished().folder)
        yield Study.read("config/config.yaml")


def read(files):
    return [json.loads(Path(file).read_text(encoding="utf-8")) for file in files]


def small_study(folder, **changes):
    """Of one model and criterion, so far as a file of it is made here."""
    first = {"First": finished_study.CONFIG["criteria"]["First"]}
    one = {"one": finished_study.CONFIG["models"]["one"]}
    return finished_study.other(folder, criteria=first, models=one, debias={}, **changes)


def test_queries_cells_and_inference(study):
    check("A query", *read(map(study.paths.query_file, study.queries)))
    check("A cell", *read(map(study.paths.cell_file, study.grid.cells.values())))
    check("Inference", *read({study.paths.inference_file(i) for i in study.grid.inferences.values()}))
    groups = [study.grid.inference_groups[name][0] for name in study.grid.aggregate_criteria]
    check("Tests of aggregates", *read(map(study.paths.aggregates_file, groups)))


def test_arrays_have_the_shapes_that_the_page_says(study):
    draws = study.config.inference.bootstrap.draws
    file = study.paths.inference_file(next(iter(study.grid.inferences.values())))
    parts = [result for cell in json.loads(file.read_text())["cells"] for result in cell["results"]]
    assert np.load(file.with_suffix(".npy")).shape == (len(parts), draws)
    rows = len((study.results / "rankings.csv").read_text().splitlines()) - 1
    assert np.load(study.paths.ranks_file).shape == (2, 3, rows, draws)
    group = next(study.grid.inference_groups[name][0] for name in study.grid.aggregate_criteria)
    arrays = np.load(study.paths.aggregates_file(group).with_suffix(".npz"))
    known = documented("Values of random groups")
    axes = {"scores": len(arrays["counts"]), "32": 32, "draws": arrays["counts"].sum()}
    for name in (*arrays, *known):
        dtype, shape = re.match(r"(\w+) \((.*?)\)", known[name]).groups()
        assert arrays[name].dtype == dtype
        assert arrays[name].shape == tuple(axes[axis] for axis in re.findall(r"\w+", shape))


def test_null_distributions_and_pools(study):
    arrays = np.load(study.paths.null_file(study.grid.cells[finished_study.NULL]))
    assert {re.sub(r"_\d+_", "_<i>_", name) for name in arrays} == documented("Null distributions").keys()
    (result,) = json.loads(arrays["results"].tobytes())
    parts = {"permutation", "random_groups", "frequency_bands", "bootstrap"}
    assert result.keys() == {"query", "status", "value", *parts}
    assert set(np.load(study.paths.pool_file("one"))) == documented("A pool").keys()


def test_frequencies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = small_study(tmp_path)
    make_inputs(study)
    frequency_step(study, "one").run()
    check("Frequencies", *read([study.paths.frequency_file("one")]))


def test_a_store_and_a_download(study):
    check("A store", *read([study.embeddings / "one" / "model.json"]))
    check("Downloads", *read([study.embeddings / "raw" / "one" / "manifest.json"]))


def test_a_transform(tmp_path):
    words = [f"w{i}" for i in range(20)]
    model = load(write_text_model(tmp_path / "model.txt", words))
    hard(model, definitional_pairs=[words[:2], words[2:4]], equalize_pairs=[words[4:6]]).save(tmp_path / "t")
    arrays = dict(np.load(tmp_path / "t"))
    header = {"header": json.loads(arrays.pop("header").tobytes())}
    known = documented("A transform")
    assert {f"header.{key}" for key in header["header"]} == {k for k in known if k.startswith("header.")}
    assert arrays.keys() <= known.keys()
    assert {k for k in known if "." not in k} == {"header", *ARRAYS}


def test_evaluations(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = finished_study.WORDS[:40]
    pairs = [f"{a}\t{b}\t{i % 7}" for i, (a, b) in enumerate(pairwise(words))]
    Path("pairs.tsv").write_text("\n".join([*pairs, "gone\ta0\t1"]))
    questions = [" ".join(words[i : i + 4]) for i in range(12)]
    Path("questions.txt").write_text("\n".join([": some", *questions]))
    quality = {"similarity": {"toy": "pairs.tsv"}, "analogies": {"asked": "questions.txt"}}
    study = small_study(tmp_path, quality=quality)
    make_inputs(study)
    (evaluation,) = study.grid.quality.values()
    evaluation_step(study, evaluation).run()
    (record,) = read([study.paths.evaluation_file(evaluation)])
    check("An evaluation", record)
    # it has the optional ones, too
    assert set(paths(record, documented("An evaluation"))) == documented("An evaluation").keys()


def test_word_sets():
    check("Word sets", *read((ROOT / "data" / "word_sets").glob("*.json")))
