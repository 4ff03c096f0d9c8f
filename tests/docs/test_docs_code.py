"""The Python of pages: blocks of `python` run, in order, in one namespace per page; `pycon` prints what it says.

They run in an empty folder. What a page takes as given, such as a model of the reader's, is in GIVEN. Models that a
page names are fetched; studies that it opens must be finished (`make study`).
"""

import doctest
import io
import re
import warnings
from pathlib import Path

import pytest
from conftest import ROOT
from snippets import blocks, pages

from biasgrid.models.shipped import shipped_models

PAGES = pages()
# a query, and a small random model of its words and some more
GENDER = """
import biasgrid as bg
from biasgrid import debias, metrics
from conftest import write_text_model
sets = bg.word_sets("weat")
query = bg.Query([sets["male_terms"], sets["female_terms"]], [sets["career"], sets["family"]],
                 ["Male terms", "Female terms"], ["Career", "Family"])
words = {"doctor", "queen", "king", "man", "woman", "he", "she"}.union(*query.target_sets, *query.attribute_sets)
model = bg.load(write_text_model(Path("given.txt"), sorted(words)))
pairs = [["he", "she"], ["man", "woman"]]
transform = debias.hard(model, definitional_pairs=pairs)
"""
KEYED_VECTORS = """
from gensim.models import KeyedVectors
keyed_vectors = KeyedVectors.load_word2vec_format("given.txt")
"""
# page -> what it takes as given
GIVEN = {
    "docs/data.md": GENDER
    + KEYED_VECTORS
    + """
import pandas as pd
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model
model.save("vectors.bin")
frame = pd.DataFrame(model.vectors(sorted(words)), index=sorted(words))
save_facebook_model(FastText([["doctor", "nurse"]], vector_size=4, min_count=1), "cc.en.300.bin")
""",
    "docs/debias.md": GENDER,
    "docs/how-to/measure-any-model.md": """
Path("texts.jsonl").write_text('{"biasgrid_texts": 1}\\n{"key": "1", "text": " kind", "prefix": "He is"}\\n')
log_likelihood = lambda prefix, text: -1.0
""",
    "docs/migration.md": GENDER + KEYED_VECTORS,
}
STUDY = re.compile(r"results/\w+")
FENCE = re.compile(r"(?:```|~~~)\s*py(?:thon|con)\b")


def code(page):
    """A page's blocks of Python that are to be run."""
    # most pages have none, and to parse them all takes as long as to collect a hundred tests
    for block in blocks(PAGES[page]) if FENCE.search(PAGES[page]) else ():
        if block.language in ("python", "pycon"):
            yield block


def marks(page):
    text = "".join(block.text for block in code(page))
    names = set(re.findall(r"""load\(\s*["']([\w.-]+)["']""", text)) & {*shipped_models()}
    slow = names or "gensim" in GIVEN.get(page, "")
    return [pytest.mark.network] * bool(names) + [pytest.mark.slow] * bool(slow)


@pytest.mark.parametrize("page", [pytest.param(page, marks=marks(page)) for page in PAGES if any(code(page))])
def test_the_code_of_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIASGRID_EMBEDDINGS", str(ROOT / "data" / "embeddings"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    # as in a module of the package, which some blocks are
    names = {"__name__": "biasgrid.metrics.page", "__package__": "biasgrid.metrics", "Path": Path}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(GIVEN.get(page, ""), names)
        for block in code(page):
            for study in STUDY.findall(block.text):
                if not (ROOT / study / "study.json").is_file():
                    pytest.skip(f"{page}: line {block.line}: {study} is not finished")
                tmp_path.joinpath("results").mkdir(exist_ok=True)
                if not (tmp_path / study).exists():
                    (tmp_path / study).symlink_to(ROOT / study)
            run(page, block, names)


def run(page, block, names):
    """Run a block as it stands at its line of the page."""
    if block.language == "python":
        exec(compile("\n" * block.line + block.text, ROOT / page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page, str(ROOT / page), block.line)
    said = io.StringIO()
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
        test, out=said.write, clear_globs=False
    )
    assert not said.getvalue(), said.getvalue()
    names.update(test.globs)
