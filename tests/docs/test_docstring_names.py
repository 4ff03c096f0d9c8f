"""Every name that a docstring has in backticks is there: what is renamed leaves no docstring behind."""

import ast
import builtins
import re
from pathlib import Path

import pytest

import biasgrid
from biasgrid import tables

SOURCE = Path(biasgrid.__file__).parent
NAME = re.compile(r"(?<!`)`([A-Za-z]\w*(?:\.\w+)*)(?:\(.*?\))?`(?!`)")
NAMED = {"id", "attr", "arg", "name", "asname"}  # of a node, what is a name
ENTRIES = "metrics", "debias"  # packages whose members are entries of a registry
# names of other tools, of what is looked for by its name, of files, words and sets, and patterns of names
ELSEWHERE = re.findall(
    r"\S+",
    """
    angle_pca_pair classes_ cls.predictions evaluate_word_analogies evaluate_word_pairs fold generate_subqueries l
    onstart Path predict_proba python sha256sum strip_accents unpack warnings.simplefilter warnings.warn
    one_word.py strings.json career weat.career fashion_designer female_terms file.set male_terms
    direction_cosine_i_j package.name package.other_name units_first_words
    likelihood_diff score_continuations task_metadata
    """,
)


def names(nodes):
    """What code calls by a name, and the words of its short texts, which are keys and columns."""
    for node in nodes:
        for field in NAMED.intersection(node._fields):
            if isinstance(text := getattr(node, field), str):
                yield from text.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
            yield from re.findall(r"\w+", node.value)


@pytest.mark.slow
def test_every_name_in_a_docstring_exists():
    public = set(dir(builtins)) | {c.name for table in tables.REGISTRY.values() for c in table.columns}
    members: dict[str, set[str]] = {"biasgrid": set()}  # of a module, package or class: the names in its file
    documented = []
    for path in SOURCE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names_here = set(names(nodes))
        module = path.parent.name if path.stem == "__init__" else path.stem
        package = path.parent.parent if path.stem == "__init__" else path.parent
        members.setdefault(package.name, set()).add(module)
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.Module):
                members.setdefault(getattr(node, "name", module), set()).update(names_here)
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                public.add(node.name)
            if isinstance(node, ast.Name) and node.id.isupper():
                public.add(node.id)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                public.add(node.target.id)
            if isinstance(node, ast.Dict):
                public |= {key.value for key in node.keys if isinstance(key, ast.Constant)}
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
                node, clean=False
            ):
                documented.append((path, node, names_here))
    public |= set(members)
    lost = []
    for path, node, names_here in documented:
        for name in NAME.findall(ast.get_docstring(node, clean=False)):
            *owners, last = name.split(".")
            if owners:
                parameters = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
                owner = owners[-1]
                is_there = any(last in members.get(name, ()) for name in (owner, owner.capitalize()))
                is_there |= owner in parameters or (owner in ENTRIES and last in public)
            else:
                is_there = last in names_here | public
            if not is_there and name not in ELSEWHERE:
                lost.append(f"{path.relative_to(SOURCE)}, {getattr(node, 'name', 'module')}: `{name}`")
    assert not lost, "\n" + "\n".join(lost)
