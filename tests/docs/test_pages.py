"""The page of each metric and debias method: generated from the code, whole, with an example that runs."""

import doctest
import re
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from docutils.utils.math.latex2mathml import tex2mathml
from PIL import Image

from biasgrid import debias, metrics
from biasgrid.core import docstrings

sys.path.insert(0, str(ROOT / "docs"))
import generated
import pages
import plugin_notes
import unlocked

PAGES, PICTURES = pages.pages(), pages.pictures()
METRICS = [name for name in metrics.REGISTRY if ROOT / "docs" / "metrics" / f"{name}.md" in PAGES]
SECTIONS = {
    "metrics": [
        "Formula",
        "Range, no-bias value, and what the sign means",
        "What its p-values test",
        "Blind spots",
        "Defaults, beside the paper and WEFE 1.0.1",
        "Options",
        "Example",
        "Reference",
    ],
    "debias": [
        "Formula",
        "Words",
        "What it leaves",
        "Defaults, beside the paper and WEFE 1.0.1",
        "Options",
        "Example",
        "Reference",
    ],
}


def by_file(path):
    return f"{path.parent.name}/{path.stem}"


def sections(text):
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_there_is_a_page_of_each():
    assert {path.stem for path in PAGES if path.parent.name == "metrics"} >= {"weat", "rnsb", "gipe", "pmn"}
    for package in (metrics, debias):
        folder = ROOT / "docs" / package.__name__.rpartition(".")[2]
        known = package.REGISTRY
        own = {name for name in known if known.is_shipped(name) or known.plugin_of(name)}
        assert {path.stem for path in PAGES if path.parent == folder} == own
    overview = (ROOT / "docs" / "debias.md").read_text(encoding="utf-8")
    places = {name: plugin_notes.code_of(debias, name) for name in debias.REGISTRY}
    lacking = [name for name, place in places.items() if f"](../{place})" not in overview]
    assert not lacking, "make reference"


def test_overviews_have_a_row_of_each():
    """Of one that has none, `make reference` writes it from the declaration, for somebody to go over."""
    stale = [
        path.name for path, text in pages.overviews().items() if path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"make reference: {stale}"


def test_pages_are_written_anew_and_those_of_what_is_gone_removed(tmp_path, monkeypatch):
    folder = tmp_path / "metrics"
    folder.mkdir()
    for name in ("weat", "gone"):
        (folder / f"{name}.md").write_text("# Old")
    before = {folder / "weat.md": "# WEAT\n", folder / "rnd.md": "# RND\n"}
    monkeypatch.setattr(generated, "texts", lambda: before)
    monkeypatch.setattr(pages, "pages", lambda: before)
    for _ in range(2):
        generated.write()
        assert {path: path.read_text() for path in folder.iterdir()} == before
        # the site reads again what is newer
        times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    generated.write()
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == times


def written(path):
    return generated.texts()[path]


@pytest.mark.parametrize("path", PAGES, ids=by_file)
def test_a_page_is_whole(path):
    text = written(path)
    found = sections(text)
    assert list(found) == SECTIONS[path.parent.name]
    short = [name for name, part in found.items() if len(part.strip()) <= 40]
    assert not short, f"{path.stem}: the docstring, or `reference`, says more of: {short}"
    entry = (metrics if path.parent.name == "metrics" else debias).REGISTRY[path.stem]
    told = found["Options"]
    assert not [name for name in entry.parameters if f"| `{name}` |" not in told]
    if path.parent.name == "metrics":
        value = found["Range, no-bias value, and what the sign means"]
        says = f"{path.stem}: the docstring's Returns says what a sign means (Positive: ...), or: no sign"
        assert re.search(r"Positive: |no sign|Below|below it|negative:", value), says
        shown = {"corpus": "Texts of a few sentences", "vectors": f"(../images/metrics/{path.stem}.png)"}
        either = [shown.get(entry.needs, "A few scores show it"), "does not have it"]
        assert any(text in found["Blind spots"] for text in either)
        says = f"{path.stem}: the docstring's **Defaults.** says what WEFE has, or that it lacks the metric"
        assert "WEFE" in found["Defaults, beside the paper and WEFE 1.0.1"], says
    else:
        shown = (
            "(../images/debias/{}.png)"
            if pages.is_measured(path.stem)
            else "`make debias` does not measure it"
        )
        assert shown.format(path.stem) in found["What it leaves"]
        assert not [name for name in entry.words if f"| `{name}` |" not in found["Words"]]
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        file = (path.parent / link).resolve()
        assert file in generated.texts() or file.is_file(), link
    prose = [line for line in text.splitlines() if not line.startswith(("|", "![", ".. "))]
    assert max(map(len, prose)) <= 120


@pytest.mark.parametrize("package", [metrics, debias])
def test_each_formula_is_on_the_page_of_its_entry_and_can_be_typeset(package):
    kind = package.__name__.rpartition(".")[2]
    for name, formula in pages.formulas()[kind].items():
        assert f"$$\n{formula}$$" in sections(written(ROOT / "docs" / kind / f"{name}.md"))["Formula"], name
        assert "<math" in tex2mathml(formula, as_block=True)


FACTS = {
    "weat": [
        "| template | (2, 2): two target sets and two attribute sets |",
        "| groups | the attribute sets; measured is how close the words of the target sets are to each |",
        "| range | any number |",
        "| more biased | far from 0, on either side |",
        "The p-value is twice the share of permutations with a value as large or larger, or as small",
        "a value at least as far from 0.",
    ],
    "mac": [
        "| template | (n, n): ",
        "| range | 0 to 2 |",
        "| no-bias value | 1 |",
        "there is none, as MAC is a mean",
    ],
    "same": [
        "| groups | the target sets; measured is how close the words of the attribute sets are to each |",
        "| more biased | above 0 |",
        "is the share of permutations with",
    ],
    "ect": ["| template | (2, 1): ", "| more biased | below 1 |", "with a value as small or smaller."],
    "rnsb": ["| range | from 0 |", "**Label test** (`p_value`)"],
    "pmi": ["**Random groups** (`p_groups`): there is no such test, as a corpus has no vectors"],
}


@pytest.mark.parametrize("name", FACTS)
def test_a_pages_facts_are_the_metrics(name):
    text = " ".join(written(ROOT / "docs" / "metrics" / f"{name}.md").split())
    assert [fact for fact in FACTS[name] if fact.rstrip() not in text] == []


@pytest.mark.parametrize("name", [name for name in debias.REGISTRY if pages.is_measured(name)])
def test_what_a_method_leaves_is_what_was_measured(name):
    folder = ROOT / "docs"
    table = pd.read_csv(folder / ("debias/glpp.csv" if name == "glpp" else "images/hidden-bias.csv"))
    page = written(folder / "debias" / f"{name}.md")
    told = {label: cells for label, cells in re.findall(r"^\| ([^|]+) \| (.* → .*) \|$", page, re.MULTILINE)}
    for label, measure in (
        ("analogies solved (Google)", "google"),
        ("Direct Bias of occupations", "direct_bias"),
    ):
        rows = table[(table["measure"] == measure) & (table["debias"] == f"gender-{name.replace('_', '-')}")]
        rows = rows[rows["group"].isin(["analogy", "direct"])].sort_values("model")
        assert len(rows) == 4
        expected = [f"{row.before:.2f} → {row.after:.2f}" for row in rows.itertuples()]
        assert told[label].split(" | ") == expected


@pytest.mark.parametrize("path", PAGES, ids=by_file)
def test_the_example_runs(path):
    (block,) = re.findall(r"^```pycon\n(.*?)^```$", written(path), re.M | re.S)
    example = doctest.DocTestParser().get_doctest(block, {}, path.stem, str(path), 0)
    printed = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(example, out=printed.append)
    assert tried >= 3
    assert not failed, "".join(printed)


@pytest.mark.parametrize("name", METRICS)
def test_options_are_given_as_the_page_says(name):
    text = written(ROOT / "docs" / "metrics" / f"{name}.md")
    for entry in re.findall(r"In a study: `(.*)`$", text, re.MULTILINE):
        given = yaml.safe_load(entry)["metrics"][name]["params"]
        assert given
        metrics.metric(name).check_parameters(given)


def test_notes_are_in_the_help():
    """`help(metrics.weat)`, `help(debias.hard)`."""
    for package, first in ((metrics, "Blind spots"), (debias, "What it leaves")):
        for name in package.REGISTRY:
            notes = docstrings.notes(docstrings.sections(getattr(package, name)).get("Notes", ""))
            says = f"{name}: the docstring's Notes are a paragraph **{first}.** and one **Defaults.**"
            assert list(notes) == [first, "Defaults"], says
            assert all(len(text) > 40 for text in notes.values()), says


@pytest.mark.parametrize("name", [name for name in METRICS if metrics.REGISTRY[name].needs == "vectors"])
def test_what_a_metric_does_not_see_is_measured(name):
    """The values below the pictures, of vectors that are measured here again."""
    metric = metrics.metric(name)
    for setting, said in pages.blind_spots_of(metric):
        if name in pages.OWN or "no value" in said:
            continue
        # RNSB is examined without its random splits
        options = {"holdout": False} if name == "rnsb" else {}
        # and effect sizes with groups of one word, too
        options |= {"one_word": "keep"} if "one_word" in metric.parameters else {}
        groups, words = (list(sets) for sets in (setting.groups, setting.words))
        sides = (groups, words) if metric.groups == "targets" else (words, groups)
        value = metric.function(*sides, **options).value
        assert pages.number(value) == said.partition(",")[0], said


@pytest.mark.slow
@pytest.mark.parametrize("file", PICTURES, ids=by_file)
def test_a_picture_is_the_one_that_is_drawn_today(file):
    assert file.is_file(), f"{file.name} is not there: make reference"
    assert file.stat().st_size < 40_000
    drawn, committed = (
        np.asarray(image.convert("RGB"), dtype=int) for image in (PICTURES[file](), Image.open(file))
    )
    assert drawn.shape == committed.shape, "make reference"
    # another processor may round a shade otherwise; a digit that changes is some hundred pixels
    assert (np.abs(drawn - committed) > 48).any(axis=-1).sum() <= 20, "make reference"


def test_there_are_no_other_pictures():
    for folder in ("metrics", "debias"):
        assert set((ROOT / "docs" / "images" / folder).iterdir()) == {
            file for file in PICTURES if file.parent.name == folder
        }


@pytest.mark.slow
def test_what_each_file_unlocks_is_the_commands():
    for path, text in unlocked.written().items():
        assert path.read_text(encoding="utf-8") == text, f"make reference: {path.name}"
    *files, total = [tuple(map(int, row[-2:])) for row in unlocked.rows()[1:]]
    # each of seven models has 4 metrics in 3 criteria and overall
    assert tuple(map(sum, zip(*files, strict=True))) == total == (7 * 4 * 4, 7 * 4 * 4)
    page = " ".join(unlocked.PAGE.read_text(encoding="utf-8").split())
    assert "other 24 of the 248 printed numbers" in page


def test_the_page_of_p_values_names_the_metrics_of_vectors_without_a_permutation_test():
    page = " ".join((ROOT / "docs/p-values.md").read_text(encoding="utf-8").split())
    (names,) = re.findall(r"\*\*No permutation test\*\*: ([^.]*)\. Random groups are their test", page)
    without = [m.label for m in metrics.REGISTRY.values() if m.no_test and m.needs == "vectors"]
    assert names.split(", ") == without
