"""No module imports itself through others, whether at the top, late or for type checkers alone, except for four named
imports; and none asks for a kind of model by its name."""

import ast
from pathlib import Path

import grimp
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import biasgrid
from biasgrid.models.kinds import REGISTRY as KINDS

# What methods that users call import late, and what a call returns: `metrics.weat(query, model)`, `model.save(path)`
# and a result's text. Only the first two leave their folder.
UP = (
    ("metrics.registry", "measure.measure_query"),
    ("metrics.registry", "measure.result"),
    ("models.model", "models.saving"),
    ("measure.result", "measure.result_views"),
)


@pytest.fixture(scope="module")
def graph():
    graph = grimp.build_graph("biasgrid", exclude_type_checking_imports=False, cache_dir=None)
    for importer, imported in UP:
        assert graph.direct_import_exists(importer=f"biasgrid.{importer}", imported=f"biasgrid.{imported}")
        graph.remove_import(importer=f"biasgrid.{importer}", imported=f"biasgrid.{imported}")
    return graph


def test_imports_run_in_no_circle(graph):
    modules = sorted(graph.modules - {"biasgrid"})  # the door names all that it has
    place = {module: i for i, module in enumerate(modules)}
    arrows = np.zeros((len(modules),) * 2, dtype=bool)
    for module in modules:
        imported = graph.find_modules_directly_imported_by(module) - {"biasgrid"}
        arrows[place[module], [place[other] for other in imported]] = True
    _, circle_of = connected_components(csr_array(arrows), connection="strong")
    circles = [np.array(modules)[circle_of == i].tolist() for i in np.flatnonzero(np.bincount(circle_of) > 1)]
    assert circles == []


def test_what_makes_and_loads_a_kind_of_model_stands_below_the_kinds(graph):
    """Kinds name it by a text, which no tool follows."""
    for kind in KINDS.values():
        for place in (kind.make, kind.load):
            module, _, _ = place.partition(":")
            upstream = graph.find_upstream_modules(module)
            assert upstream
            assert not upstream & {
                KINDS.module(kind.name),
                "biasgrid.models.kinds",
                "biasgrid.models.building",
            }


@pytest.mark.slow
def test_no_module_asks_for_a_kind_of_model_by_its_name():
    """A kind declares what others ask of it."""
    package = Path(biasgrid.__file__).parent
    own = [package / "models" / folder for folder in ("kinds", "corpus", "language")]
    asked = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted(package.rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in own)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn))
        for side in (node.left, *node.comparators)
        if any(
            isinstance(part, ast.Constant) and part.value in KINDS
            for part in (side, *getattr(side, "elts", ()))
        )
    ]
    assert asked == []
