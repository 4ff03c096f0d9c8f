"""The site of docs, notebooks and READMEs, for Sphinx: `make docs` builds it into results/site.

Its source is the whole repository, so that a link between two pages is the same on a code host and in the site. A
link to a file that is not a page, such as a module, hands out a copy of it. A comment `<!-- site ... -->` of a page,
such as the table of contents, is shown in the site alone. Most pages that are made of code (generated.py) are in the
site alone, too: there, a link to the code leads to its page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from PIL import Image
from sphinx.application import Sphinx
from sphinx.util import logging

from biasgrid import __version__, debias, metrics
from biasgrid.core.docstrings import sections

sys.path.insert(0, str(Path(__file__).parent))
import generated
import reference

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<=\]\()[^()\s:]+(?=\))")
ENTRY = re.compile(r"^/?[\w*-][\w/*-]*\n", re.MULTILINE)  # of a table of contents
SITE_ONLY = re.compile(r"^<!-- site\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
# a picture that is a link: in the site, the pages of cards show its upper part as a thumbnail
PICTURE = re.compile(r"(?<=\[!\[)([^\]]*)\]\(images/([^)]+)\)(?=\]\()")
CARDS = ("docs/index", "docs/gallery")
THUMBNAILS, THUMBNAIL = ROOT / "docs" / "thumbnails", (480, 360)  # their folder, and their size in pixels
DOWNLOAD = re.compile(r'(<a class="reference )download (internal") download=""(?= href="[^"]+\.png")')
# pages that lead a folder of others -> these
LEADING = {
    "docs/metrics": "metrics/*",
    "docs/debias": "debias/*",
    "docs/reference/tables": "tables/*",
    "docs/reference/api": "functions/*\nclasses/*\nword_bias/*",
}


def theme_of_report() -> dict[str, dict[str, str]]:
    """Return the colours and the font of a study's page as those of the site, light and dark."""
    css = (ROOT / "src/biasgrid/report/templates/report.css").read_text(encoding="utf-8")
    (font,) = re.findall(r"^ *font: 15px/1\.5 (.*);", css, re.MULTILINE)
    found = {}
    for shade, block in zip(("light", "dark"), re.findall(r":root \{(.*?)\}", css, re.DOTALL), strict=True):
        colours = dict(re.findall(r"--(\w+): (#\w+)", block))
        found[f"{shade}_css_variables"] = {
            "font-stack": font,
            "color-brand-primary": colours["accent"],
            "color-brand-content": colours["accent"],
            "color-brand-visited": colours["accent"],
            "color-background-primary": colours["bg"],
            "color-background-secondary": colours["soft"],
            "color-background-border": colours["line"],
            "color-foreground-primary": colours["fg"],
            "color-foreground-secondary": colours["muted"],
        }
    return found


project, version, release = "biasgrid", __version__, __version__
author = "The biasgrid developers"
copyright = "the biasgrid developers"
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**",
    "notebooks/*",
    "config/*.md",
    "data/*.md",
    "data/*/*.md",
    "benchmarks/*.md",
    "plugins/*/*.md",
    "validation/*.md",
    "validation/*/*.md",
]
exclude_patterns = [".*", "results", "logs", "src", "tests", "workflow", "data/embeddings", "**/.*"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc"]

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
# notebooks are shown as they were run and committed
nb_execution_mode = "off"
# cells of them may be commands: !biasgrid
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"
# quotes and ellipses, but two hyphens are the beginning of an option: --pin
smartquotes_action = "qe"

# docstrings have names in single backticks
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
# types that are public classes are links
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {
    name.rpartition(".")[2]: reference.full_name(name)
    for name in reference.object_pages().values()
    if isinstance(reference.public()[name], type)
}
add_module_names = False

html_theme = "furo"
html_title = f"biasgrid {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_theme_options = theme_of_report()
html_copy_source = False
html_show_sourcelink = False
# formulas need no script, and nothing from the net
html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"


def builder_inited(app: Sphinx) -> None:
    generated.write()


def env_get_outdated(app: Sphinx, env: Any, added: Any, changed: Any, removed: Iterable[str]) -> list[str]:
    """Remove pages whose source is gone."""
    for page in removed:
        Path(app.builder.get_outfilename(page)).unlink(missing_ok=True)
    return []


def source_read(app: Sphinx, page: str, source: list[str]) -> None:
    """Show what is in the site alone, lead links to code to the pages that are made of it, and put the pages of a
    folder below the page that leads it."""

    def there(entry: re.Match[str]) -> str:
        """An entry, if there is such a page."""
        folder = ROOT if entry[0].startswith("/") else ROOT / Path(page).parent
        return entry[0] if any(folder.glob(f"{entry[0].strip().lstrip('/')}.*")) else ""

    def shown(block: re.Match[str]) -> str:
        return ENTRY.sub(there, block[1])

    def to_page(link: re.Match[str]) -> str:
        made = generated.page_of(normpath(join(dirname(page), link[0])))
        return f"/{made}" if made else link[0]

    source[0] = LINK.sub(to_page, SITE_ONLY.sub(shown, source[0]))
    if page in CARDS:
        source[0] = PICTURE.sub(lambda picture: f"{picture[1]}]({write_thumbnail(picture[2])})", source[0])
    if page in LEADING:
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{LEADING[page]}\n```\n"


def write_thumbnail(name: str) -> str:
    """Write the upper part of a picture of docs/images as a small one, and return its path from docs."""
    picture, small = ROOT / "docs" / "images" / name, THUMBNAILS / name
    # the site copies a file again that is newer
    if not small.is_file() or small.stat().st_mtime < picture.stat().st_mtime:
        width, height = THUMBNAIL
        small.parent.mkdir(exist_ok=True)
        with Image.open(picture) as image:
            part = image.convert("RGB").crop(
                (0, 0, image.width, min(image.height, image.width * height // width))
            )
            part.thumbnail(THUMBNAIL, Image.Resampling.LANCZOS)
            part.save(small, optimize=True)
    return f"thumbnails/{name}"


def process_signature(app: Sphinx, what: str, name: str, kind: Any, *given: Any) -> tuple[str, None] | None:
    """Leave out how a class is made that others make: its docstring has no parameters."""
    return ("", None) if what == "class" and "Parameters" not in sections(kind) else None


def follow_import(app: Sphinx, module: str, name: str) -> str | None:
    """Return the module that defines a metric or debias method, for the link to its code."""
    package = {"biasgrid.metrics": metrics, "biasgrid.debias": debias}.get(module)
    return package.REGISTRY.module(name) if package and name in package.REGISTRY else None


def html_page_context(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Show the pages of its own branch only in a page's sidebar: with all 200, a build takes 1.6 times as long."""
    if whole := context.get("toctree"):
        context["toctree"] = lambda **options: whole(**options | {"collapse": True})


def visit_math(writer: Any, node: nodes.Element) -> None:
    """A formula as MathML, which browsers draw by themselves."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        LOGGER.warning("%s: %s", node.astext(), error, location=node)
        raise nodes.SkipNode from None
    writer.body.append(f'<div class="math">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def build_finished(app: Sphinx, error: Exception | None) -> None:
    """Lead the folder's own index.html to the first page, below docs/, and open the gallery's whole pictures."""
    if error is None:
        if (gallery := Path(app.outdir) / "docs" / "gallery.html").is_file():
            page = gallery.read_text(encoding="utf-8")
            # a browser shows a picture that it is not told to download
            gallery.write_text(DOWNLOAD.sub(r"\1\2", page), encoding="utf-8")
        (Path(app.outdir) / "index.html").write_text(
            '<!doctype html><meta charset="utf-8"><title>biasgrid</title>'
            '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">biasgrid</a>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    app.connect("builder-inited", builder_inited)
    app.connect("env-get-outdated", env_get_outdated)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("viewcode-follow-imported", follow_import)
    app.connect("source-read", source_read)
    # before the theme's own handler, which makes the sidebar
    app.connect("html-page-context", html_page_context, priority=400)
    app.connect("build-finished", build_finished)
