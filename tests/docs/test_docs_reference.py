"""Each column, key, option and public name has its sentence: the pages of docs/reference are made of these."""

import inspect
import re

import finished_study
import generated
import plugin_notes
import pytest
import reference
from configuration import models_in
from conftest import ROOT

import biasgrid
from biasgrid import cli, debias, metrics, tables
from biasgrid.core import docstrings
from biasgrid.measure.significance import REGISTRY
from biasgrid.study.config import study
from validation.calibration.config import SimulationConfig
from validation.planted_bias.config import FactoryConfig


def rows(page, heading):
    """The rows of the table below a heading, without the heads."""
    text = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)[1]
    lines = [line.strip("| ") for line in text.splitlines() if line.startswith("| `")]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)) for line in lines]


def test_the_pages_of_tables_have_each_column_as_it_is_declared():
    page = reference.tables_page()
    for name, table in tables.REGISTRY.items():
        assert f"[{name}](../../{plugin_notes.code_of(tables, name)})" in page
        declared = [(f"`{c.name}`", c.dtype, c.unit) for c in (*table.columns, *table.ends)]
        assert [(row[0], *row[2:4]) for row in rows(reference.table_page(name), f"{name}.csv")] == declared, (
            name
        )
    for file, (_, _, columns) in reference.OTHERS.items():
        assert [row[0] for row in rows(page, file)] == [f"`{column.name}`" for column in columns], file
    found = {row[0].strip("`"): row[1:] for row in rows(reference.table_page("aggregates"), "aggregates.csv")}
    assert found["cells_nan"] == (
        "number of scores without a value; they are left out",
        "count",
        "",
        "from 0",
    )
    ends = {name: found[name][-1] for name in ("value", "p_groups", "aggregation")}
    assert ends == {"value": "any", "p_groups": "0 to 1", "aggregation": "`avg`, `abs_avg`, `sum`, `abs_sum`"}
    key = "`criterion`, `method`, `metric_a` and `metric_b`"
    assert f"No two rows have the same {key}." in " ".join(reference.table_page("correlations").split())


def test_the_page_of_commands_has_each_option_as_it_is_given():
    page = reference.command_line_page()
    for name, command in cli.commands().by_name.items():
        given = rows(page, f"biasgrid {name}")
        assert len(given) == len(reference.options(command)), name
        assert {row[0].split()[0].strip("`[]") for row in given} == {
            ", ".join(action.option_strings) or action.metavar or action.dest.upper()
            for action in reference.options(command)
        }
    one = {row[0]: row[1] for name in ("init", "list", "measure") for row in rows(page, f"biasgrid {name}")}
    expected = {"`NAME`": "yes", "`--metric METRIC`": "yes"} | dict.fromkeys(
        (
            "`--models MODEL [MODEL ...]`",
            "`[TOPIC]`",
            "`--json`",
            "`--permutation [KEY=VALUE ...]`",
            "`--interval {jackknife,percentile,bca}`",
        ),
        "",
    )
    assert {option: one[option] for option in expected} == expected


def test_the_page_of_configurations_has_each_key_with_its_type_and_default():
    page = reference.configuration.page()
    for config, heading in ((study.StudyConfig, "A study"), (SimulationConfig, "A simulation")):
        assert {row[0].strip("`") for row in rows(page, heading)} == set(config.model_fields)
    found = {row[0].strip("`"): row[1:] for row in rows(page, "A study")}
    expected = {
        "study": ("key", "required"),
        "metrics": ("mapping of key to [metric](#metric), not empty", "required"),
        "seed": ("whole number from 0", "`0`"),
        "plugins": ("list of text", "optional"),
        "ranking": ("[ranking](#ranking)", "its defaults"),
        "query_ranks": ("`true` or `false`", "`false`"),
        "frequencies": ("`own`, `wordfreq`", "`own`"),
    }
    assert {key: found[key][:2] for key in expected} == expected
    assert found["corpora"][0].endswith("; or a YAML file with it; or a list of these, which are merged")
    assert found["study"][2] == "the study's name"
    for heading, own in (("Inference", ""), ("Own inference", "own ")):
        found = {row[0].strip("`"): row[1] for row in rows(page, heading)}
        kind = f"{own}control words options"
        assert found["control_words"] == f"[{kind}](#{kind.replace(' ', '-')})"
        assert set(REGISTRY) <= set(found)
        assert {row[0] for row in rows(page, kind.capitalize())} >= {"`nearest`", "`draws`"}
    threshold = next(row for row in rows(page, "Words") if row[0] == "`lost_vocabulary_threshold`")
    assert threshold[1:3] == ("number from 0 to 1", "optional")


def test_the_page_of_the_api_has_each_public_name_which_leads_to_its_page():
    page = reference.api_page()
    links = dict(re.findall(r"^\| \[`(?:bg\.)?([\w.]+)`\]\(\.\./\.\./(\S+)\) \|", page, re.MULTILINE))
    errors = set(re.findall(r"^\| `bg\.(\w+)` \|", page, re.MULTILINE))
    listed = {name for names in reference.groups().values() for name in names}
    assert links.keys() | errors == listed
    assert {f"metrics.{name}" for name in metrics.REGISTRY if metrics.REGISTRY.is_shipped(name)} <= listed
    assert set(biasgrid.__all__) - listed == {"__version__", "metrics", "debias", "word_bias"}
    files = generated.texts().keys() | generated.IN_GIT
    pages = {name: generated.page_of(code) for name, code in links.items()}
    assert not [name for name, file in pages.items() if not file or ROOT / file not in files]
    assert len(set(pages.values())) == len(pages)
    assert pages["load"].endswith("/functions/load.md")
    assert pages["metrics.weat_es"].endswith("/metrics/weat_es.md")
    assert re.search(
        r"/measure_grid\.py\S*\) \| Measure every metric on every query on every model\. \|", page
    )


def test_the_page_of_a_class_has_each_member():
    public = reference.public()
    for file, name in reference.object_pages().items():
        text = generated.texts()[file]
        members = [one.rpartition(".")[2] for one in public if one.startswith(f"{name}.")]
        if inspect.isclass(public[name]):
            assert re.findall(r"^\| \{py:obj\}`(\w+) <", text, re.MULTILINE) == members, name
        assert f"::{public[name].__name__}\n" in text


def test_no_two_pages_have_one_name_where_case_does_not_count():
    files = [str(path).lower() for path in generated.texts()]
    assert len(set(files)) == len(files)


def test_the_pages_in_git_are_those_that_the_code_makes():
    stale = [path.name for path in generated.IN_GIT if not same_text(path)]
    assert not stale, f"make reference: {stale}"


def same_text(path):
    return path.is_file() and path.read_text(encoding="utf-8") == generated.texts()[path]


def test_every_column_has_its_sentence_and_every_number_its_range():
    declared = {name: table.columns for name, table in tables.REGISTRY.items()}
    declared |= {file: columns for file, (*_, columns) in reference.OTHERS.items()}
    columns = [(name, column) for name, of_table in declared.items() for column in of_table]
    assert not [f"{table}.{column.name}" for table, column in columns if not column.meaning]
    assert not [f"{table}.{c.name}" for table, c in columns if c.dtype != "text" and c.range is None]


def test_every_table_has_its_sentence():
    assert not [name for name, table in tables.REGISTRY.items() if not table.meaning.endswith(".")]


def test_every_key_of_a_config_has_its_sentence():
    lacking = []
    for config in (study.StudyConfig, SimulationConfig, FactoryConfig):
        for model in models_in(config):
            lacking += [model.__name__] * (not model.__doc__)
            fields = model.model_fields.items()
            lacking += [f"{model.__name__}.{name}" for name, info in fields if not info.description]
    assert not lacking


def test_every_option_of_the_command_line_has_its_sentence_and_every_command_an_example():
    commands = cli.commands().by_name
    assert len(commands) > 15
    assert not [
        f"{name} {action.dest}"
        for name, command in commands.items()
        for action in reference.options(command)
        if not action.help
    ]
    assert not [name for name, command in commands.items() if f"biasgrid {name} " not in command.epilog]


@pytest.mark.parametrize("name", reference.public())
def test_every_public_name_has_its_sentence_and_its_parameters_theirs(name):
    thing = reference.public()[name]
    if name == "__version__":
        return
    assert docstrings.sections(thing)[""], f"{name} has no docstring"
    if not callable(thing) or (inspect.isclass(thing) and "Parameters" not in docstrings.sections(thing)):
        return
    whole, said = inspect.getdoc(thing), docstrings.parameters(thing)
    if isinstance(thing, (metrics.Metric, debias.Method)):  # what all share stands in one place
        said = docstrings.parameters(type(thing).__call__) | said
    given = [
        p for p in inspect.signature(thing).parameters if p not in ("self", "cls") and not p.startswith("_")
    ]
    # a docstring of one sentence may name them in it: `words`
    assert not [p for p in given if not said.get(p) and not re.search(rf"`{p}\b", whole)]


@pytest.mark.slow
def test_tables_hold_what_their_columns_declare():
    files = sorted((finished_study.finished().folder / "results" / "small").glob("*.csv"))
    assert len(files) >= 8
    for file in files:
        table = tables.read(file)
        for column in tables.REGISTRY[file.stem].columns:
            values = table[column.name].dropna()
            if column.values:
                assert set(values) <= set(column.values), (file.stem, column.name)
            elif column.range:
                assert values.between(*column.range).all(), (file.stem, column.name)
