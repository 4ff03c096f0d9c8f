"""The section of the study's own words that lie furthest towards each group."""

import numpy as np
import pytest
import small_page
from conftest import write_text_model
from small_page import words

from biasgrid.study.study import Study

QUERY = {
    "targets": {"A": words("a")[:2], "B": words("b")[:2]},
    "attributes": {"C": words("c"), "D": words("d")},
}


def study_of(folder, word_table):
    model = write_text_model(folder / "one.txt", [word for letter in "abcd" for word in words(letter)])
    return small_page.make(
        Study.of(
            {
                "study": "plain",
                "models": {"one": {"label": "Model one", "source": {"type": "file", "path": str(model)}}},
                "criteria": {
                    "First": {"ranked": False, "queries": {"q": QUERY}, "word_table": word_table},
                },
                "metrics": {"semaxis": {}, "weat": {}},
                "figures": [],
                "results": str(folder / "results"),
                "embeddings": str(folder / "embeddings"),
            }
        )
    )


def section(study):
    text = study.paths.report_file.read_text(encoding="utf-8")
    return text.split('<section id="group-words"')[1].split("</section>")[0]


@pytest.mark.slow
def test_words_stand_in_the_order_of_their_projections(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = study_of(tmp_path, True)
    vectors = {}
    for line in (tmp_path / "one.txt").read_text().splitlines()[1:]:
        word, *numbers = line.split()
        vectors[word] = np.array(numbers, dtype=float) / np.linalg.norm(np.array(numbers, dtype=float))
    # SemAxis: the cosine with the difference of the groups' means
    raw = {
        line.split()[0]: np.array(line.split()[1:], dtype=float)
        for line in (tmp_path / "one.txt").read_text().splitlines()[1:]
    }
    axis = np.mean([raw[w] for w in words("a")[:2]], axis=0) - np.mean(
        [raw[w] for w in words("b")[:2]], axis=0
    )
    values = {word: vectors[word] @ axis for word in words("c") + words("d")}
    order = sorted(values, key=values.get)
    towards_a = [word for word in order[::-1] if values[word] > 0][:5]
    towards_b = [word for word in order if values[word] < 0][:5]
    text = section(study)
    assert f"<td>{', '.join(towards_a)}</td><td>{', '.join(towards_b)}</td>" in text
    assert "towards A</th>" in text
    assert "WEAT" not in text  # it says of no word which group it is nearer to


@pytest.mark.slow
def test_a_study_without_a_table_of_words_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = section(study_of(tmp_path, False))
    assert "This study has no table of words." in text
    assert "<table" not in text
