"""Checksums of a folder of results: what has changed since, and what is missing."""

import pytest

from biasgrid.core.errors import BiasgridError
from biasgrid.study import checksums


def test_changed_and_missing_files_are_told_from_the_others(tmp_path):
    results, known = tmp_path / "results", tmp_path / "known.json"
    results.mkdir()
    for name in ("kept.csv", "edited.csv", "gone.csv", "page.html"):
        (results / name).write_text(name)
    checksums.record_all(results)
    assert checksums.changes(results, known) == ([], [])
    (results / "edited.csv").write_text("other")
    (results / "page.html").write_text("other")
    (results / "gone.csv").unlink()
    # what is known of a file without reading it, and what is not
    for _ in range(2):
        assert checksums.changes(results, known) == (["edited.csv", "page.html"], ["gone.csv"])
        known.unlink()
    # those that are shown, or made into what is shown
    assert checksums.changed_records(results) == ["edited.csv"]
    assert checksums.differences(results) == (
        4,
        {"differs": ["edited.csv", "page.html"], "is missing": ["gone.csv"]},
    )


def test_an_input_whose_name_is_not_printable_leaves_the_record_of_the_others_readable(tmp_path):
    digests = {"/vectors.txt": "0" * 64}
    checksums.write_inputs(tmp_path, digests | {"/no-break\xa0space.txt": "1" * 64})
    assert checksums.read_inputs(tmp_path) == digests


def test_a_refused_step_leaves_the_record_of_its_output(tmp_path):
    def write(text, refuse=False):
        with checksums.renewing(page):
            page.write_text(text)
            if refuse:
                raise BiasgridError("refused")

    page = tmp_path / "report.html"
    page.write_text("old")
    checksums.record_all(tmp_path)
    with pytest.raises(BiasgridError, match="refused"):
        write("old", refuse=True)
    assert checksums.differences(tmp_path) == (1, {})
    with pytest.raises(BiasgridError, match="refused"):
        write("half", refuse=True)
    assert checksums.differences(tmp_path) == (1, {"differs": ["report.html"]})
    write("new")
    assert checksums.differences(tmp_path) == (1, {})


def test_a_step_by_hand_records_its_own_files_alone(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    for name in ("again.csv", "kept.csv"):
        (results / name).write_text("old")
    checksums.add(results, [results / "again.csv"])
    assert checksums.read(results) == {}  # where no run has recorded anything
    checksums.record_all(results)
    for name in ("again.csv", "kept.csv", "new.csv"):
        (results / name).write_text("edited")
    checksums.add(results, [results / "again.csv", results / "new.csv"])
    assert checksums.changed_records(results) == ["kept.csv"]
    assert set(checksums.read(results)) == {"again.csv", "kept.csv", "new.csv"}


def test_a_file_that_is_made_again_gets_a_new_record(tmp_path):
    results, known = tmp_path / "results", tmp_path / "known.json"
    results.mkdir()
    (results / "scores.csv").write_text("old")
    checksums.record_all(results, known)
    (results / "scores.csv").write_text("made again")
    assert checksums.changed_records(results) == ["scores.csv"]
    checksums.record_all(results, known)
    assert checksums.changed_records(results) == []
