"""The rehearsal of the full case study: its archives, its own arithmetic, and, small, the whole of it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import requests
from conftest import ROOT

from biasgrid import Query, load, metrics
from biasgrid.models import convert

REHEARSAL = ROOT / "benchmarks" / "rehearsal"
sys.path.insert(0, str(REHEARSAL))
import archives  # noqa: E402
import scores  # noqa: E402
import server  # noqa: E402

sys.path.remove(str(REHEARSAL))
QUERY = Query([["he", "man"], ["she", "Woman"]], [["work", "job"], ["home"]], ["M", "F"], ["Work", "Home"])
WORDS = ["he", "man", "she", "Woman", "work", "job", "home"]


@pytest.mark.filterwarnings("ignore:.*duplicate_words")
@pytest.mark.slow
@pytest.mark.parametrize("name", archives.ARCHIVES)
def test_an_archive_is_read_as_it_was_written(tmp_path, name):
    kind = archives.ARCHIVES[name]
    real = {"he": np.full(kind.dimensions, 0.25, np.float32)} if kind.decimals is None else {}
    written = archives.write(tmp_path / f"{name}.gz", name, 200, WORDS, real)
    store = convert(tmp_path / f"{name}.gz", tmp_path / "store", name=name)
    words = store.words()
    assert len(words) == 200 - kind.duplicates
    assert set(archives.ODD) <= set(words)
    assert (words == sorted(words)) == kind.by_alphabet
    assert set(written.vectors) == {word.lower() if kind.lower else word for word in WORDS}
    for word, vector in {**written.vectors, **real}.items():
        assert np.array_equal(np.asarray(store.array)[words.index(word)], vector)
    # no two rows are alike
    assert len(np.unique(np.asarray(store.array), axis=0)) == len(words)


def test_the_arithmetic_of_the_check_finds_what_is_wrong():
    vectors = {
        word: np.random.default_rng(i).normal(size=5).astype(np.float32) for i, word in enumerate(WORDS)
    }
    vectors["woman"] = vectors.pop("Woman")
    model = load({word: list(vector) for word, vector in vectors.items()})
    lower = [{}, {"lowercase": True}]
    rows = [
        {"metric": name, "model": "m", "debias": "none", "query": part.name, "status": "ok"}
        | {"value": metric(part, model, preprocessors=lower).value}
        for name, metric in (("weat", metrics.weat), ("weat_es", metrics.weat_es), ("rnd", metrics.rnd))
        for part in ([QUERY] if name != "rnd" else QUERY.subqueries((2, 1)))
    ]
    table = pd.DataFrame(rows)
    compared, worst, wrong = scores.check(table, {"q": QUERY}, {"m": vectors})
    assert (compared, wrong) == (4, [])
    assert worst < 1e-12
    for other in (table.assign(value=table["value"] + [0, 0, 1e-6, 0]), table.drop(index=2)):
        (place,) = scores.check(other, {"q": QUERY}, {"m": vectors})[2]
        assert place[:3] == ("rnd", "m", rows[2]["query"])


@pytest.mark.slow
def test_the_server_redirects_resumes_and_lacks_what_it_should(tmp_path):
    from biasgrid.core.errors import BiasgridError
    from biasgrid.models.download.file import download

    content = np.random.default_rng(0).bytes(3_000_000)
    for name in ("a", "b"):
        (tmp_path / f"{name}.gz").write_bytes(content)
    with server.serving(tmp_path, missing=("b",)) as host:
        address = f"http://127.0.0.1:{host.server_port}/releases/x"
        download(f"{address}/a.gz", tmp_path / "whole")
        assert (tmp_path / "whole").read_bytes() == content
        assert (host.sent, set(host.ended)) == (3_000_000, {"a"})
        first = requests.get(f"{address}/a.gz")
        assert [answer.status_code for answer in first.history] == [302]
        for tag, status, rest in ((first.headers["ETag"], 206, content[1000:]), ('"other"', 200, content)):
            asked = {"Range": "bytes=1000-", "If-Range": tag}
            answer = requests.get(f"{address}/a.gz", headers=asked)
            assert (answer.status_code, answer.content == rest) == (status, True)
        with pytest.raises(BiasgridError, match="404"):
            download(f"{address}/b.gz", tmp_path / "none")


@pytest.mark.slow
@pytest.mark.rehearsal
def test_the_case_study_from_its_archives_to_the_page(tmp_path, word2vec):
    """On random vectors nothing but the scores of word2vec, whose words are real, is called reproduced."""
    command = [sys.executable, REHEARSAL, "--size", "small", "--cores", "2", "--folder", tmp_path]
    done = subprocess.run(
        [*command, "--overlay", ROOT / "tests/rehearsal/quick.yaml"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # 25 queries, of six models: WEAT, its effect size, RND of two attribute sets or one
    assert "scores computed again: 588 of WEAT" in done.stdout
    results = tmp_path / "checkout" / "results" / "case_study"
    table = pd.read_csv(results / "comparison.csv", keep_default_na=False)
    assert len(table) == 248
    reproduced = table[table["verdict"] == "reproduced"]
    assert reproduced.groupby("model").size().to_dict() == {
        "word2vec-google-news-300": 16,
        "word2vec-google-news-300 under gender-hard": 16,
    }
    assert set(reproduced["quantity"]) == {"abs_avg"}
    assert (results / "report.html").is_file()


@pytest.mark.slow
def test_what_is_no_longer_reproduced_is_named(tmp_path):
    listed = json.loads((ROOT / "data/published/reproduced.json").read_text())["embedded"]
    assert [len(numbers) for numbers in listed.values()] == [16, 16]
    rows = [
        {"model": model, "verdict": "reproduced"}
        | dict(zip(("criterion", "metric", "quantity"), number.split(", "), strict=True))
        for model, numbers in listed.items()
        for number in numbers
    ]
    (tmp_path / "embedded").mkdir()
    file = tmp_path / "embedded" / "comparison.csv"
    command = [sys.executable, ROOT / "benchmarks" / "reproduced.py", file.parent]
    for verdict, code, line in (
        ("reproduced", 0, "embedded: 32 of 32 published numbers are reproduced as before"),
        ("differs", 1, "under gender-hard: Ethnicity, rnd, abs_avg: differs"),
    ):
        pd.DataFrame(rows).assign(verdict=["reproduced"] * 16 + [verdict] + ["reproduced"] * 15).to_csv(file)
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, line in done.stdout) == (code, True), done.stdout + done.stderr


@pytest.mark.slow
def test_the_issue_has_ranks_and_correlations(tmp_path):
    (folder := tmp_path / "embedded").mkdir()
    columns = ["criterion", "metric", "model", "quantity", "published", "ours", "verdict"]
    rows = [
        ["Gender", "weat", "one", "rank", 2, 1, "differs"],
        ["Gender", "weat~rnd", "", "correlation", 0.75, 0.75, "reproduced"],
        ["Gender", "weat", "one", "abs_avg", 0.2, 0.2, "reproduced"],
    ]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "comparison.csv", index=False)
    command = [
        sys.executable,
        ROOT / "benchmarks" / "reproduced.py",
        folder,
        "--issue",
        tmp_path / "issue.md",
    ]
    subprocess.run(command, capture_output=True)
    text = (tmp_path / "issue.md").read_text()
    assert text.startswith("# embedded: 1 of 2 published ranks and correlations hold\n")
    assert "| Gender | weat | one | rank | 2.0 | 1.0 | differs |" in text
    assert "abs_avg" not in text
