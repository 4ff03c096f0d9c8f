"""The site: it builds without a warning, nothing of it comes from a network, and it is searchable from disk."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from PIL import Image
from snippets import pages
from test_project import EXTRAS, needed, normal, pinned

from biasgrid import figures

sys.path.append(str(ROOT / "tests" / "report"))
from browser import Browser

pytestmark = pytest.mark.skipif(not find_spec("sphinx"), reason="needs requirements-docs.lock: make docs")


def test_the_lock_pins_what_the_site_needs_and_nothing_else():
    lock = {normal(name): version for name, version in pinned("requirements-docs.lock").items()}
    study = {normal(name) for name in pinned("requirements.lock")}
    assert lock.keys() == needed("docs") - needed() - study
    assert {normal(Requirement(one).name) for one in EXTRAS["docs"]} <= lock.keys()
    for other in ROOT.glob("requirements-*.lock"):
        theirs = {normal(name): version for name, version in pinned(other.name).items()}
        assert {name: version for name, version in theirs.items() if lock.get(name, version) != version} == {}


# the site of a folder; then that without a page, where one is named
BUILD = """
import pathlib, sys
import furo
from sphinx.cmd.build import main
# no test reads the sidebar, which takes a third of the time
furo._compute_navigation_tree = lambda page: ""
source, folder, gone = sys.argv[1:]
arguments = ["-W", "--keep-going", "-q", "-c", "docs", "-d", folder + "/doctrees", source, folder + "/html"]
code = main(arguments)
if gone and not code:
    print(*(path.stem for path in pathlib.Path(folder, "html", "docs").glob("*.html")))
    pathlib.Path(gone).unlink()
    code = main(arguments)
sys.exit(code)
"""


def build(source, folder, gone=""):
    """The folder of the pages, and what was printed."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, source, folder, gone],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return folder / "html", done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("site"))[0]


@pytest.mark.slow
def test_the_site_has_every_page_and_reads_nothing_from_a_network(site):
    missing = [page for page in pages() if not (site / page).with_suffix(".html").is_file()]
    assert not missing
    fetched = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']+""")
    found = {
        address
        for file in site.rglob("*.html")
        for address in fetched.findall(file.read_text(encoding="utf-8"))
    }
    assert not found
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//|@import", styles)


@pytest.mark.slow
def test_the_site_is_searchable_from_disk(site):
    """A page opened from disk may load a script, but fetch no file."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    words = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["terms"]
    assert {"weat", "rnsb", "embed"} <= words.keys()
    assert 'src="searchindex.js"' in (site / "search.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_is_of_the_site_alone_is_shown_there(site):
    reference = (site / "docs/reference/api.html").read_text(encoding="utf-8")
    assert 'id="biasgrid.InputError"' in reference
    assert "<!-- site" not in reference
    assert 'url=docs/index.html"' in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_links_to_code_lead_to_the_pages_that_are_made_of_it(site):
    said = {
        "README.html": ["docs/reference/tables.html", "docs/reference/api.html"],
        "docs/metrics.html": ["metrics/weat.html", "metrics/weat_es.html"],
        "docs/models.html": ["reference/tables/query_agreement.html"],
        "docs/gallery.html": ["reference/figures.html#scores-of-every-query"],
        "docs/reference/files.html": ["configuration.html#words"],
        "docs/reference/api.html": ["functions/load.html", "classes/Grid.html", "../metrics/weat.html"],
    }
    for page, links in said.items():
        text = (site / page).read_text(encoding="utf-8")
        assert not [link for link in links if f'href="{link}"' not in text], page


@pytest.mark.slow
def test_a_public_object_has_a_page_with_its_call_its_docstring_and_its_code(site):
    said = {
        "docs/reference/functions/load.html": ["load", "models/load.html#load", "sha256"],
        "docs/reference/classes/Grid.html": [
            "Grid.least_biased",
            "views/grid.html#Grid.least_biased",
            "booktabs",
        ],
        "docs/reference/word_bias/project.html": ["word_bias.project", "word_bias/", "Parameters"],
        "docs/metrics/same_skew.html": [
            "metrics.same_skew",
            "metrics/same_moments.html#same_skew",
            "Blind spots",
        ],
        "docs/debias/hard.html": ["debias.hard", "debias/hard.html#hard", "What it leaves"],
    }
    for page, (name, code, text) in said.items():
        found = (site / page).read_text(encoding="utf-8")
        assert f'id="biasgrid.{name}"' in found, page
        assert re.search(rf'href="[./]*_modules/biasgrid/\S*{re.escape(code)}', found), page
        assert text in found, page


@pytest.mark.slow
def test_formulas_are_mathml(site):
    for page in ("docs/metrics/weat.html", "docs/debias/hard.html"):
        formula = (site / page).read_text(encoding="utf-8").partition('<div class="math">')[2]
        assert formula.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'), page


@pytest.mark.slow
@pytest.mark.browser
def test_a_search_from_disk_finds_pages_by_their_words(site, tmp_path):
    finished = """return document.querySelector(".search-summary")?.textContent.includes("finished")
      && [...document.querySelectorAll("ul.search li a")].map((link) => link.href)"""
    browser = Browser(tmp_path)
    try:
        for words, page in {
            "sentiment": "docs/metrics/rnsb.html",
            "measure_grid": "measure_grid.html",
        }.items():
            browser.open(site / "search.html", f"?q={words}")
            assert [link for link in browser.until(finished) if page in link], words
        browser.open(site / "docs" / "index.html")
        browser.one("input.sidebar-search").send_keys("caliskan\n")
        assert len(browser.until(finished)) > 5
        assert browser.driver.get_log("browser") == []
    finally:
        browser.driver.quit()


@pytest.mark.slow
def test_the_gallery_has_thumbnails_that_lead_to_whole_pictures(site):
    gallery = site / "docs" / "gallery.html"
    text = gallery.read_text(encoding="utf-8")
    links = re.findall(
        r'<a class="reference internal" href="([^"]+\.png)"><span[^>]*><img [^>]*src="([^"]+)"', text
    )
    assert len(links) == len(figures.REGISTRY)
    for whole, small in links:
        with Image.open(gallery.parent / whole) as picture, Image.open(gallery.parent / small) as thumbnail:
            assert picture.width > thumbnail.width
            assert thumbnail.width <= 480
            assert thumbnail.height <= 360


@pytest.mark.slow
def test_a_page_that_is_gone_is_no_longer_in_the_site(tmp_path):
    docs = tmp_path / "source" / "docs"
    docs.mkdir(parents=True)
    for name in ("index", "gone"):
        (docs / f"{name}.md").write_text(f"---\norphan: true\n---\n# Page {name}\n")
    made, before = build(docs.parent, tmp_path, docs / "gone.md")
    assert set(before.split()) == {"index", "gone"}
    assert {path.stem for path in (made / "docs").glob("*.html")} == {"index"}
