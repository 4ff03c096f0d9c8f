"""Links of pages: what they lead to is there, on a code host and in the site alike. No network."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from urllib.parse import unquote

import generated
from conftest import ROOT
from snippets import pages, tokens

PAGES = pages()
MADE = {path.relative_to(ROOT).as_posix() for path in generated.texts().keys() - generated.IN_GIT}
ANCHOR = re.compile(r"""<a (?:id|name)=["']([^"']+)""")


@cache
def anchors(page):
    """The names of a page's headings, as code hosts make them."""
    found, times = set(ANCHOR.findall(PAGES[page])), Counter()
    parsed = tokens(PAGES[page])
    for opening, inline in pairwise(parsed):
        if opening.type == "heading_open":
            text = "".join(
                t.content for t in inline.children if t.type in ("text", "code_inline", "softbreak")
            )
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(f"{slug}-{times[slug]}" if times[slug] else slug)
            times[slug] += 1
    return found


def links(page):
    for token in tokens(PAGES[page]):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src") or ""
            if target and not re.match(r"[a-z]+:", target):
                yield unquote(target)


def broken(page, target):
    """What is wrong with a link of a page; nothing where it leads somewhere."""
    path, _, anchor = target.partition("#")
    file = ((ROOT / page).parent / path).resolve() if path else ROOT / page
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else ""
    if name in MADE and page not in MADE:
        return "git does not have it: link to the code that it is made of"
    if not name or not (file.exists() or name in MADE):
        return "no such file"
    if file.is_dir():
        return "a folder: link to a page"
    if to := generated.page_of(f"{name}#{anchor}" if anchor else name):
        name, _, anchor = to.partition("#")
    if anchor and (name not in PAGES or anchor not in anchors(name)):
        return "no such heading"
    return None


def test_links_lead_somewhere():
    assert not {
        (page, target): why for page in PAGES for target in links(page) if (why := broken(page, target))
    }


def test_no_two_pages_have_one_title():
    """Contents and search have nothing else of a page opened from disk."""
    titles = [PAGES[page].partition("\n")[0] for page in PAGES.keys() - {"README.md"}]
    assert [title for title, times in Counter(titles).items() if times > 1] == []


def test_pages_that_code_and_configs_name_are_there():
    """Messages, comments and docstrings send readers to pages."""
    named = re.compile(r"(?<![\w/.-])(?:docs|config|data)/[\w/.-]+\.md\b")
    files = [
        ROOT / "Makefile",
        ROOT / "Snakefile",
        *(path for folder in ("src", "workflow", "tests", "docs") for path in ROOT.glob(f"{folder}/**/*.py")),
        *(
            path
            for folder in ("config", "workflow", "profiles", "src")
            for path in ROOT.glob(f"{folder}/**/*.[ys][am]*")
        ),
    ]
    missing = {
        (file.relative_to(ROOT).as_posix(), page)
        for file in files
        for page in named.findall(file.read_text(encoding="utf-8"))
        # what makes a page may name it
        if (not file.is_relative_to(ROOT / "docs") if page in MADE else not (ROOT / page).exists())
    }
    assert not missing
