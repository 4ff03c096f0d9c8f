"""Of Snakemake only what its documentation describes: an allow-list of imports and of names in its files."""

import ast
import re

import pytest
import yaml
from conftest import ROOT

# modules, and what is imported from them
IMPORTS = {
    "snakemake.utils": {"update_config"},
    "snakemake_interface_logger_plugins.base": {"LogHandlerBase"},
    # the plug-in of this package, and its own name
    "snakemake_logger_plugin_biasgrid": {"JOBS"},
}
# attributes of `workflow` in a Snakefile
OF_WORKFLOW = {
    "basedir",
    # The one name that is not documented. Snakemake's `config` has config files joined already, and its joining
    # cannot take a key out, which configs of biasgrid do (config/README.md); so the files are read here.
    "configfiles",
}
# of Snakemake's own, and not for workflows
PRIVATE = {
    "dag", "persistence", "scheduler", "execute", "cluster", "checkpoints", "scatter", "gather", "snakemake", "job",
    "jobid", "executor", "storage_registry", "globals", "linemaps", "modifier", "main_snakefile", "current_basedir",
}  # fmt: skip
PYTHON = [
    file
    for folder in ("src", "validation", "notebooks", "docs")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "tests" not in file.relative_to(ROOT).parts and "snakemake" in file.read_text(encoding="utf-8")
]
SNAKEFILES = [
    ROOT / "Snakefile",
    ROOT / "workflow" / "Snakefile",
    *sorted((ROOT / "workflow" / "rules").glob("*.smk")),
    ROOT / "validation" / "experiment.smk",
]


def imports(text: str) -> dict[str, set[str]]:
    """Return what Python code imports from modules of Snakemake, by module."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("snakemake"):
                    found.setdefault(alias.name, set()).add("")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snakemake"):
            found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    return found


def refused_imports(text: str) -> set[str]:
    """Return what code imports from Snakemake that is not on the list."""
    return {
        f"{module}: {name}"
        for module, names in imports(text).items()
        for name in names
        if name not in IMPORTS.get(module, ())
    }


def late_imports(text: str) -> list[str]:
    """Return calls and texts that would reach Snakemake in another way, such as `sys.modules["snakemake.cli"]`."""
    return [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"snakemake(_\w+)?(\.\w+)+", node.value)
    ]


def refused_names(text: str) -> set[str]:
    """Return the names of Snakemake in the text of a Snakefile that are not on the list."""
    code = re.sub(r"(?m)#.*$", "", text)
    attributes = {f"workflow.{name}" for name in re.findall(r"(?<![\w.])workflow\.(\w+)", code)}
    refused = attributes - {f"workflow.{name}" for name in OF_WORKFLOW}
    # `workflow` is handed to no function
    refused |= set(re.findall(r"(?<![\w.\"'/])workflow(?=\s*[,)\]])", code))
    statements = re.findall(r"(?m)^\s*(?:from|import)\s+snakemake\S*", code)
    private = "|".join(sorted(PRIVATE))
    return refused | set(statements) | set(re.findall(rf"\b(?:{private})\.\w+", code))


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: str(file.relative_to(ROOT)))
def test_python_imports_of_snakemake_what_is_documented(file):
    text = file.read_text(encoding="utf-8")
    assert refused_imports(text) == set()
    assert late_imports(text) == []


@pytest.mark.parametrize("file", SNAKEFILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_rules_use_of_snakemake_what_is_documented(file):
    assert refused_names(file.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("profiles/*/config*.yaml")), ids=lambda file: file.parent.name
)
def test_profiles_are_plain_yaml_without_code(file):
    profile = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert not any(str(key).startswith("__") for key in profile)


def test_every_allowed_name_is_used():
    used = {
        (module, name)
        for file in PYTHON
        for module, found in imports(file.read_text(encoding="utf-8")).items()
        for name in found
    }
    assert used == {(module, name) for module, names in IMPORTS.items() for name in names}
    text = "\n".join(file.read_text(encoding="utf-8") for file in SNAKEFILES)
    assert set(re.findall(r"(?<![\w.])workflow\.(\w+)", re.sub(r"(?m)#.*$", "", text))) == OF_WORKFLOW


@pytest.mark.parametrize(
    "code",
    [
        "import snakemake",
        "from snakemake.cli import get_argument_parser",
        "def f():\n    from snakemake.utils import validate_private",
        "import snakemake.persistence as p",
    ],
)
def test_other_imports_are_found(code):
    assert refused_imports(code)


@pytest.mark.parametrize("code", ['sys.modules["snakemake.cli"]', 'import_module("snakemake.dag")'])
def test_hidden_imports_are_found(code):
    assert late_imports(code)


@pytest.mark.parametrize(
    "code",
    [
        "workflow.persistence.path",
        "engine.start(workflow)",
        "f(STUDY, workflow, 3)",
        "from snakemake.io import ancient",
        "dag.jobs",
    ],
)
def test_other_names_are_found(code):
    assert refused_names(code)
