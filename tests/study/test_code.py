"""Digests of code: what counts as an edit, and which modules a step's code is."""

import ast
import importlib.util
import io
import re
import shutil
import sys
import tokenize
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

import pytest
from conftest import ROOT, SHIPPED_PLUGINS
from hypothesis import given, settings
from hypothesis import strategies as st
from reruns import SHIPPED, shipped

from biasgrid.core import registry
from biasgrid.study import code
from biasgrid.workflow.plan import Plan

pytestmark = pytest.mark.slow

SOURCES = ROOT / "src" / "biasgrid"


def tree(folder):
    """`biasgrid.study.code` as it works on the package in a folder, with nothing read yet."""
    spec = importlib.util.spec_from_file_location(code.__name__, code.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ROOT = folder
    return module


def put(folder, **files):
    """Files of a package, by path with _ for /."""
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def digest_of(tmp_path):
    """The digest of a module with a text."""
    return lambda text: tree(put(tmp_path, m=text)).digest("biasgrid.m")


BARE = '''\
import os


class A(Exception):
    x = """one
two"""

    def f(self, y):
        if y:
            return [
                y,
                "#",
            ]
        return f"{y} # {self.x!r}"


B = 'a\\
# b'
'''


def test_comments_docstrings_and_blank_lines_change_nothing(digest_of):
    before = digest_of(BARE)
    assert re.fullmatch("[0-9a-f]{16}", before)
    for old, new in (
        ("import os", '"""What it is\n\nat length."""\n\n# a comment\nimport os  # another'),
        ("class A(Exception):\n", 'class A(Exception):\n    """It has a docstring."""\n\n'),
        ("def f(self, y):\n", "def f(self, y):\n        '''One\n        \"\"\"two\"\"\" # three.'''\n"),
        ("        if y:\n", "\n    # dedented\n        if y:  # why\n\n\n"),
        ("                y,\n", "                # within brackets\n\n                y,  # , and y\n"),
        ('"#",\n', '"#",  # "#"\n'),
        ("B = ", "# at the end\n\n\n\nB = "),
        ("\nB = ", "   \nB = "),
    ):
        assert old in BARE
        edited = BARE.replace(old, new)
        ast.parse(edited)
        assert digest_of(edited) == before, new


def test_every_other_edit_changes_it(digest_of):
    digests = {digest_of(BARE)}
    edits = [
        ("import os", "import sys"),
        ("one\ntwo", "one\n\ntwo"),
        ("one\ntwo", "one \ntwo"),
        ("one\ntwo", "one\n# two"),
        ('"#"', '"#."'),
        ('"#"', '"# "'),
        ("# {self.x!r}", "# {self.x!s}"),
        ("{y} #", "{y} # #"),
        ("# b'", "# c'"),
        ("        if y:\n            return [", "        if y:\n            0\n            return ["),
        # a text that is no docstring
        ("        return f", '        "no docstring"\n        return f'),
        ("(Exception):\n", "(ValueError):\n"),
    ]
    for old, new in edits:
        edited = BARE.replace(old, new)
        assert edited != BARE
        ast.parse(edited)
        digests.add(digest_of(edited))
    assert len(digests) == len(edits) + 1


def test_code_beside_a_docstring_counts(digest_of):
    """On one line."""
    texts = [
        'def f(): "says"; return 1\n',
        'def f(): "says"; return 2\n',
        'class A(ValueError): """says"""\n',
        'class A(TypeError): """says"""\n',
        '"""says"""; x = 1\n',
        '"""says"""; x = 2\n',
    ]
    assert len({digest_of(text) for text in texts}) == len(texts)


MODULES = sorted(SOURCES.rglob("*.py"))


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copied") / "biasgrid"
    return shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))


def digest_of_copy(copied, path, text):
    """The digest of one module of the package alone, were this its text."""
    digests = tree(copied)
    digests.closure = lambda *modules: modules
    file = copied / path.relative_to(SOURCES)
    before = file.read_bytes()
    file.write_text(text, encoding="utf-8")
    try:
        return digests.digest(module_of(path))
    finally:
        file.write_bytes(before)


def module_of(path):
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def docstrings(text):
    """The lines at which docstrings begin."""
    bodies = (
        node.body
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        body[0].lineno
        for body in bodies
        if isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    }


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_of_every_module_what_is_no_code_does_not_count(copied, data):
    """Comments after a few lines and between them; docstrings in other words."""
    path = data.draw(st.sampled_from(MODULES))
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    # ends of lines of code, within brackets or not; of lines that a text goes on from, there is none
    ends = [t.start[0] for t in tokens(text) if t.type in (tokenize.NEWLINE, tokenize.NL)]
    for line in data.draw(st.lists(st.sampled_from(ends), max_size=4, unique=True)):
        more = data.draw(
            st.sampled_from(["  # edited", "\n# edited", "\n\n", "   ", "\n    # it's", '  # """'])
        )
        lines[line - 1] += more
    for line in data.draw(st.sets(st.sampled_from(sorted(docstrings(text)) or [1]), max_size=2)):
        lines[line - 1] = lines[line - 1].replace('"""', '"""Edited. ', 1)
    edited = "\n".join(lines)
    assert digest_of_copy(copied, path, edited) == digest_of_copy(copied, path, text)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_of_every_module_each_token_of_its_code_counts(copied, data):
    path = data.draw(st.sampled_from(MODULES))
    text = path.read_text(encoding="utf-8")
    said = docstrings(text)
    edits = {tokenize.NAME: "_e", tokenize.NUMBER: "1", tokenize.STRING: "x"}
    if sys.version_info >= (3, 12):
        edits[tokenize.FSTRING_MIDDLE] = "x"
    kinds = [t for t in tokens(text) if t.type in edits and t.start[0] not in said]
    if not kinds:
        return
    token = data.draw(st.sampled_from(kinds))
    lines = text.split("\n")
    line, column = token.end
    quotes = 3 * token.string.endswith(('"""', "'''")) or 1
    line, column = line - 1, column - quotes * (token.type == tokenize.STRING)
    lines[line] = lines[line][:column] + edits[token.type] + lines[line][column:]
    edited = "\n".join(lines)
    try:
        ast.parse(edited)
    except SyntaxError:  # an edit that nothing can be planned with
        return
    assert digest_of_copy(copied, path, edited) != digest_of_copy(copied, path, text)


# --- closures


@pytest.fixture
def package(tmp_path):
    put(
        tmp_path,
        **{
            "__init__": "from .a import A\n",
            "core/errors": "E = 1\n",
            "a": "from __future__ import annotations\nfrom .b.c import C\nA = 1\n",
            "b/__init__": "from .c import C\nfrom .d import D as E\n\ndef own():\n    pass\n",
            "b/c": "import numpy\nfrom ..core.errors import E\nC = 1\n",
            "b/d": "from . import f\nD = 1\n",
            "b/f": "F = 1\n",
            "late": "def g():\n    if True:\n        from . import b\n        from .b import E\n",
            "absolute": "import biasgrid.b.c\nfrom biasgrid import a as A\n",
            "handled": "try:\n    import t\nexcept ImportError:\n    from . import a\nelse:\n    from .b import d\n",
            "types": "if TYPE_CHECKING:\n    from . import a\nelse:\n    from .b import f\n",
            "circle": "from .b import c\nfrom . import round\n",
            "round": "from .circle import C\n",
            "whole": "from .b import own\n",
        },
    )
    return tree(tmp_path)


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("b.c", set()),
        ("a", {"b.c"}),
        # of a package, the module that the name comes from, by its name there
        ("b.d", {"b.f"}),
        ("late", {"b.d", "b.f"}),
        ("absolute", {"b.c", "a"}),
        ("handled", {"a", "b.c", "b.d", "b.f"}),
        ("types", {"b.f"}),
        ("circle", {"b.c", "round"}),
        # a name that the package defines itself
        ("whole", {"b", "b.c", "b.d", "b.f"}),
        # as a root
        ("b", {"b.c", "b.d", "b.f"}),
    ],
)
def test_a_closure_is_what_a_module_imports(package, module, others):
    names = {name.removeprefix("biasgrid.") for name in package.closure(f"biasgrid.{module}")}
    assert names == {module, *others}


def test_a_digest_changes_with_every_module_of_its_closure_and_with_no_other(package):
    folder = package.ROOT
    paths = {f"biasgrid.{path.stem}": path for path in folder.glob("*.py")}
    paths |= {f"biasgrid.b.{path.stem}": path for path in (folder / "b").glob("*.py")}
    paths = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    before = {name: package.digest(name) for name in paths}
    for name, path in paths.items():
        text = path.read_text()
        path.write_text(f"{text}EDITED = 1\n")
        edited = tree(folder)
        changed = {other for other in paths if edited.digest(other) != before[other]}
        assert changed == {other for other in paths if name in edited.closure(other)} >= {name}
        path.write_text(text)


def test_modules_together_have_one_digest_in_any_order(package):
    assert package.digest("biasgrid.a", "biasgrid.late") == package.digest("biasgrid.late", "biasgrid.a")
    assert package.closure("biasgrid.a", "biasgrid.late") == package.closure("biasgrid.a") | package.closure(
        "biasgrid.late"
    )


def test_code_is_read_once_until_a_file_of_the_package_changes(tmp_path):
    package, logs = put(tmp_path / "p", m="from .n import x\n", n="x = 1\n"), tmp_path / "logs"
    first = tree(package)
    first.recall(logs)  # there is nothing yet
    former = first.digest("biasgrid.m")
    logs.mkdir()
    first.remember(logs)
    second = tree(package)
    second.recall(logs)
    second.ast = None  # nothing can be parsed
    assert second.digest("biasgrid.m") == former
    put(package, n="x = 2\n")
    third = tree(package)
    third.recall(logs)
    assert third.digest("biasgrid.m") != former
    for damage in ("", "[1]", "[[], {}]", "{}"):
        (logs / code.FILE).write_text(damage)
        fourth = tree(package)
        fourth.recall(logs)
        assert fourth.digest("biasgrid.m") == third.digest("biasgrid.m")


def test_a_plugin_counts_with_what_it_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "PLUGINS", {})
    plugin = tmp_path / "my_metric_of_digests.py"
    plugin.write_text("from biasgrid.metrics.registry import Metric, Score\n")
    registry.load_plugins([plugin])
    name = "biasgrid_plugin_my_metric_of_digests"
    try:
        assert tree(SOURCES).closure(name) == {name} | tree(SOURCES).closure("biasgrid.metrics.registry")
        before = tree(SOURCES).digest(name)
        plugin.write_text(plugin.read_text() + "# a comment\n")
        assert tree(SOURCES).digest(name) == before
        plugin.write_text(plugin.read_text() + "X = 1\n")
        assert tree(SOURCES).digest(name) != before
    finally:
        del sys.modules[name]


@pytest.mark.parametrize("loaded", [False, True])
def test_code_of_another_package_counts_with_what_it_imports_of_its_own(tmp_path, monkeypatch, loaded):
    put(
        tmp_path / "experiment_of_digests",
        **{
            "__init__": "",
            "part/__init__": "from .cell import run\n",
            "part/cell": "from ..tools import add\nfrom biasgrid.metrics.registry import Score\nrun = add\n",
            "part/figures": "",
            "tools": "def add():\n    from .part import late\n",
            "part/late": "",
        },
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = "experiment_of_digests"
    try:
        if loaded:
            import_module(f"{name}.part.cell")
        own = {f"{name}.part.cell", f"{name}.tools", f"{name}.part.late"}
        closure = tree(SOURCES).closure(f"{name}.part.cell")
        assert closure == own | tree(SOURCES).closure("biasgrid.metrics.registry")
        before = tree(SOURCES).digest(f"{name}.part.cell")
        for edited, changes in (("part/figures", False), ("part/__init__", False), ("part/late", True)):
            file = tmp_path / name / f"{edited}.py"
            file.write_text(file.read_text() + "X = 1\n")
            assert (tree(SOURCES).digest(f"{name}.part.cell") != before) == changes
    finally:
        for module in [m for m in sys.modules if m.partition(".")[0] == name]:
            del sys.modules[module]


# --- of biasgrid itself, and of the plugins that come with it


PLUGINS = ROOT / "plugins"
NAMES = {module_of(path): path for path in MODULES}
NAMES |= {module.__name__: Path(place) for place, module in SHIPPED_PLUGINS.items()}


@cache
def parsed(module):
    return ast.parse(NAMES[module].read_text(encoding="utf-8"))


class Imports(ast.NodeVisitor):
    """The modules of biasgrid that a module takes something from; another reading than the digest's."""

    def __init__(self, module):
        self.package = module if NAMES[module].name == "__init__.py" else module.rpartition(".")[0]
        self.modules = set()
        self.visit(parsed(module))

    def generic_visit(self, node):
        for inner in ast.iter_child_nodes(node):
            if not isinstance(inner, ast.expr):  # in which nothing is imported
                self.visit(inner)

    def visit_If(self, node):
        # what is for type checkers alone is not there at run time
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Import(self, node):
        self.modules |= {alias.name for alias in node.names if alias.name in NAMES}

    def visit_ImportFrom(self, node):
        base = resolve_name("." * node.level + (node.module or ""), self.package)
        if base in NAMES:
            self.modules |= {home for alias in node.names if (home := home_of(base, alias.name))}


def home_of(module, name):
    """The module that defines what `from module import name` gives; none for a package as a whole, in which things
    are discovered by name."""
    inner = f"{module}.{name}"
    if inner in NAMES:
        return None if NAMES[inner].name == "__init__.py" else inner
    if NAMES[module].name != "__init__.py" or name in defined(module):
        return module
    thing = getattr(import_module(module), name)
    (home,) = (
        other
        for other in NAMES
        if other.startswith(f"{module}.") and name in defined(other)
        if getattr(import_module(other), name) is thing
    )
    return home


@cache
def defined(module):
    """The names that a module's own statements give a value."""
    names = set()
    for node in parsed(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {n.id for target in targets if target for n in ast.walk(target) if isinstance(n, ast.Name)}
    return names


@pytest.fixture(scope="module")
def parsed_once():
    """What has been parsed is not parsed again, whoever reads it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", cache(ast.parse))
        yield


@pytest.fixture(scope="module")
def closures(parsed_once):
    """Module -> the modules that it is made of: from import to import until nothing is added."""
    names = (
        "core.called_entry",
        "core.errors",
        "core.extras",
        "core.keywords",
        "core.registry",
        "core.resources",
        "core.validation",
        "core.versions",
        "core.web_addresses",
        "core.wefe_names",
        "models.saving",
        "measure.measure_query",
        "models.checks",
        "models.sources.trust",
        "measure.result_views",
    )
    left_out = {f"biasgrid.{name}" for name in names}
    whole = {module: {module} | Imports(module).modules - left_out for module in NAMES}
    while True:
        wider = {module: set().union(*(whole[other] for other in others)) for module, others in whole.items()}
        if wider == whole:
            return whole
        whole = wider


def test_closures_are_those_of_another_reading(closures):
    assert {module: set(code.closure(module)) for module in NAMES} == closures


@pytest.fixture(scope="module")
def roots():
    """Return the kind and the modules of all steps of the project's studies that an edit of code makes stale."""
    return {
        (step.name.split()[0], (step.function.partition(":")[0], *step.modules))
        for name in SHIPPED
        for step in Plan(shipped(name)).values()
        if not step.version
    }


@pytest.mark.filterwarnings("ignore:.*repeats")
def test_an_edit_of_any_module_makes_the_steps_stale_that_are_made_with_it_and_no_others(
    tmp_path, closures, roots, monkeypatch
):
    copies = {SOURCES: tmp_path / "biasgrid", PLUGINS: tmp_path / "plugins"}
    for folder, copy in copies.items():
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for plugin in registry.shipped_plugins():
        folder = str(tmp_path / "plugins" / plugin)
        monkeypatch.setattr(sys.modules[f"biasgrid_plugin_{plugin}"], "__path__", [folder])
    digests = tree(tmp_path / "biasgrid")
    read = digests._read
    before = {root: digests.digest(*root[1]) for root in roots}
    assert len(set(before.values())) > 30
    for path in NAMES.values():
        (folder,) = (folder for folder in copies if folder in path.parents)
        with (copies[folder] / path.relative_to(folder)).open("a", encoding="utf-8") as file:
            file.write("EDITED = 1\n")
    after = tree(tmp_path / "biasgrid")
    edited = {module: after._read(module) for module in NAMES}

    def is_stale(root, modules):
        """Whether an edit of these modules makes a step stale."""
        digests._read = lambda name: edited[name] if name in modules else read(name)
        digests.digest.cache_clear()
        return digests.digest(*root[1]) != before[root]

    edited_somewhere = set()
    for root in roots:
        made_with = set().union(*(closures[module] for module in root[1]))
        assert [module for module in made_with if not is_stale(root, {module})] == [], root
        assert not is_stale(root, NAMES.keys() - made_with), root
        edited_somewhere |= made_with
    assert {"biasgrid.models.words", "biasgrid.metrics.weat", "biasgrid.tables.scores"} <= edited_somewhere
    assert {
        f"biasgrid_plugin_maddalozzo.{name}.phenomena" for name in ("tables", "figures")
    } <= edited_somewhere
    assert not {"biasgrid.cli", "biasgrid.core.errors", "biasgrid.workflow.workers"} & edited_somewhere


# what plans, checks a config, fetches, converts, trains and prints
OTHERS = ("study", "cli", "workflow", "core.validation")
OTHERS += ("models.sources", "models.readers")
# an evaluation reads the manifests of archives that hold benchmarks
READS_ARCHIVES = ("models.sources",)
# what tells how sure a value is
INFERENCE = (
    "measure.significance",
    "measure.infer",
    "measure.step",
    "measure.aggregates",
    "measure.bootstrap",
)
INFERENCE += (
    "measure.resampler",
    "measure.permutation",
    "measure.candidate_words",
    "measure.null",
    "measure.word_order",
)


def test_what_plans_a_study_is_no_steps_code(closures, roots):
    """Nor is the drawing that of what is drawn, nor a cell's value a matter of how sure it is."""
    reached = set()
    for kind, modules in roots:
        others = tuple(name for name in OTHERS if kind != "evaluation" or name not in READS_ARCHIVES)
        others += ("figures",) * (kind != "figure") + (*INFERENCE, "tables") * (kind == "cell")
        # a model has one colour, on the page and in figures
        code_of_step = set().union(*(closures[module] for module in modules))
        if kind == "report":
            code_of_step = code_of_step - {"biasgrid.figures.palette"}
        reached |= {(kind, module) for module in code_of_step if f"{module}.".startswith(within(others))}
    assert reached == set()


def within(names):
    return tuple(f"biasgrid.{name}." for name in names)
