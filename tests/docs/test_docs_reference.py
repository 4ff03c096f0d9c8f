"""Each column, key, option and public name has its sentence, and the pages of docs/reference are made of these."""

import inspect
import re

import finished_study
import pytest
import reference
from configuration import models_in

from biasgrid import cli, tables
from biasgrid.api import docstrings
from biasgrid.config import study
from validation.calibration.config import SimulationConfig
from validation.planted_bias.config import FactoryConfig


def test_the_pages_are_up_to_date():
    stale = [
        path.name for path, text in reference.written().items() if path.read_text(encoding="utf-8") != text
    ]
    assert not stale, f"make reference: {stale}"


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
