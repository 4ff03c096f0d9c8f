"""Parser of sub-commands, arguments that several of them share, and values of the form KEY=VALUE."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from ..core.errors import BiasgridError, quote, unknown_name
from ..core.registry import shipped_plugins
from ..core.resources import find_file

# Limit the characters of a message of the parser.
LONGEST = 380
# Match the beginning of a negative number, which is a value and not an option.
NUMBER = re.compile(r"-[\d.]")
STUDY: dict[str, Any] = {
    "required": True,
    # Find files that come with biasgrid (config/embedded.yaml) from any folder.
    "type": find_file,
    "help": "a study's config, or its results/<study>/study.json; - reads study.json from standard input",
}
MODEL: dict[str, Any] = {
    "required": True,
    "type": Path,
    "help": "a file or folder of any format (biasgrid list formats), or a model that comes with biasgrid (biasgrid "
    "list models), which is downloaded if necessary; a language model also by its name on a hub, owner/name",
}
# Arguments of a model's file.
FILE: dict[str, Any] = {
    "sha256": {"help": "expected checksum of the input file and the files read with it"},
    "trust_pickle": {"action": "store_true", "help": "read a .kv file without a known checksum"},
    "vocab_prefix": {"default": "", "help": "prefix of every word in the vocabulary, such as /c/en/"},
    "limit": {
        "type": int,
        "help": "read only this number of rows from the beginning: the most frequent words of a sorted file",
    },
    "broken_words": {
        "default": "replace",
        "choices": ["replace", "refuse"],
        "help": "how to treat a word that is not UTF-8: replace the broken part by U+FFFD, or refuse the file",
    },
}
PLUGINS: dict[str, Any] = {
    "nargs": "+",
    "default": [],
    "metavar": "PLUGIN",
    "help": "plugins to load first, which runs their code: names (biasgrid list plugins), files or folders",
}


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return re.split(r"(?<=[.?]) (?=[A-Z\W])", text, maxsplit=1)[0]


def plugins_of(arguments: Sequence[str] | None) -> list[str]:
    """Return the plugins that a command's arguments name, and a shipped plugin with the name of the command.

    The name may be misspelt, so that the message about it has the right one.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--plugins", **PLUGINS | {"nargs": "*"})
    named: list[str] = parser.parse_known_args(arguments)[0].plugins
    return get_close_matches("".join(arguments[:1]), shipped_plugins(), 1, cutoff=0.8) + named


class NoResultError(BiasgridError):
    """Error of a command that ran but did not get a result; `record` is printed nevertheless."""

    def __init__(self, message: str, record: Any):
        super().__init__(message)
        self.record = record


class _Parser(argparse.ArgumentParser):
    """A parser that ends the process with one line for wrong arguments."""

    def error(self, message: str):
        self.refuse(f"{message} ({self.prog} --help lists what is allowed)")

    def refuse(self, message: str) -> NoReturn:
        """Print the message as one line, and end the process."""
        message = " ".join(message.split())
        message = message if len(message) <= LONGEST else f"{message[: LONGEST - 90]} ... {message[-85:]}"
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)

    def check_options(self, arguments: Sequence[str]) -> None:
        """Refuse unknown options. argparse would report missing arguments first, and would not suggest a name."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        for argument in arguments:
            name = argument.partition("=")[0]
            if argument == "--":
                return
            if not argument.startswith("-") or argument == "-" or " " in argument or NUMBER.match(argument):
                continue
            if name not in self._option_string_actions:
                self.refuse(unknown_name("option", name, options, f"{self.prog} --help"))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            flag = next(iter(action.option_strings), "")
            what = "value" if flag else str(action.metavar or action.dest).lower()
            self.refuse(unknown_name(what, value, action.choices, f"{self.prog} --help", of=flag))


class _Help(argparse.HelpFormatter):
    """Help that leaves lines of examples as they are, and lists commands without a heading of their own."""

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        return "".join(map(super()._format_action, self._iter_indented_subactions(action)))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(f"{indent}{line}\n" for line in text.splitlines())
        return super()._fill_text(text, width, indent)


def _grouped(groups: Mapping[str, Sequence[str]]) -> type[_Help]:
    """Return a help formatter that lists only the commands of these groups, under their headings."""

    class Grouped(_Help):
        def add_arguments(self, actions: Iterable[argparse.Action]) -> None:
            for action in actions:
                if not isinstance(action, argparse._SubParsersAction):
                    self.add_argument(action)
                    continue
                commands = {command.dest: command for command in action._get_subactions()}
                for group, names in groups.items():
                    self.start_section(group)
                    self.add_arguments([commands[name] for name in names])
                    self.end_section()

    return Grouped


class Commands:
    """Sub-commands of a program.

    Parameters
    ----------
    name, description, epilog
        The program's name, and what its help says above and below the commands.
    groups
        The commands that its help lists, by heading. All others can also be called.
    former
        Names of former commands, and what takes their place.
    """

    def __init__(
        self,
        name: str,
        description: str,
        epilog: str,
        groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
        former: Mapping[str, str] = MappingProxyType({}),
    ):
        shape: dict[str, Any] = {"formatter_class": _Help, "allow_abbrev": False}
        self.parser = _Parser(
            prog=name, description=description, epilog=epilog, **shape | {"formatter_class": _grouped(groups)}
        )
        self._commands = self.parser.add_subparsers(
            title="commands", required=True, metavar="COMMAND", parser_class=_Parser
        )
        self._shape, self._former = shape, former
        # "" and the names of commands that have commands of their own -> these
        self._of_group = {"": self._commands}
        self._by_name: dict[str, _Parser] = {}

    def add_group(self, name: str, doc: str) -> None:
        """Add a command with its own sub-commands, which `add` then accepts by both names ("words report")."""
        command = self._commands.add_parser(name, help=first_sentence(doc), description=doc, **self._shape)
        self._of_group[name] = command.add_subparsers(
            title="commands", required=True, metavar="COMMAND", parser_class=_Parser
        )

    def add(
        self,
        function: Callable[[argparse.Namespace], Any],
        name: str = "",
        /,
        takes_extra_arguments: bool = False,
        **options: Mapping[str, Any],
    ) -> argparse.ArgumentParser:
        """Add a function as a sub-command with its name, and with options of these names.

        The first paragraph of the docstring describes the command; lists of commands show only the first sentence.
        The second paragraph has examples. With `takes_extra_arguments`, the function also gets the arguments that
        the parser does not know, as `extra_arguments`.
        """
        doc, _, examples = (inspect.getdoc(function) or "").partition("\n\n")
        doc = " ".join(doc.split())
        lines = examples.splitlines()
        epilog = "\n  ".join(
            ["example:" if examples.count("biasgrid ") == 1 else "examples:", *lines, ""]
        ).rstrip()
        name = name or function.__name__
        group, _, last = name.rpartition(" ")
        command = self._of_group[group].add_parser(
            last, help=first_sentence(doc), description=doc, epilog=epilog, **self._shape
        )
        self._by_name[name] = command
        for flag, settings in options.items():
            command.add_argument("--" + flag.replace("_", "-"), **settings)
        command.set_defaults(run=function, takes_extra_arguments=takes_extra_arguments)
        return command

    def help_of(self, name: str) -> str:
        """Return the first sentence about a command."""
        return first_sentence(self._by_name[name].description or "")

    @property
    def by_name(self) -> Mapping[str, _Parser]:
        """Return the parsers of the sub-commands by name. A command inside a group is listed by both names."""
        return self._by_name

    def find(self, arguments: Sequence[str]) -> tuple[_Parser, int]:
        """Return the parser of the command that the arguments name, and the number of arguments that name it.

        If they do not name a command, return the parser of the program, and 0.
        """
        for number in (2, 1):
            if (name := " ".join(arguments[:number])) in self._by_name:
                return self._by_name[name], number
        return self.parser, 0

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Parse the arguments of a sub-command. Ends the process if they are wrong."""
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        place = next((i for i, argument in enumerate(arguments) if not argument.startswith("-")), None)
        self.parser.check_options(arguments[:place])
        if place is not None and (new := self._former.get(name := arguments[place])):
            self.parser.refuse(f"{name} has a new name: {new}")
        command, number = (self.parser, 0) if place is None else self.find(arguments[place:])
        if place is not None and command.get_default("takes_extra_arguments") is False:
            command.check_options(arguments[place + number :])
        namespace, extra_arguments = self.parser.parse_known_args(arguments)
        if extra_arguments and not namespace.takes_extra_arguments:
            command.error(f"too many arguments: {' '.join(extra_arguments)}")
        namespace.extra_arguments = extra_arguments
        return namespace


def open_model(args: argparse.Namespace, kind: Any = "vectors") -> Any:
    """Open the model that --model and the arguments of `FILE` name. A file is read as a model of type `kind`."""
    from ..models.load import load

    return load(str(args.model), kind=kind, **{name: getattr(args, name) for name in FILE})


def read_study(path: Path, measures: bool = True):
    """Read the study of a config file, or of standard input (-).

    A command that does not measure anything reads the study.json of results like `report`, without loading plugins.
    """
    from ..core.configs import parse_json
    from ..study.results.finished_study import CONFIG, find_study
    from ..study.study import Study

    if not measures and path.name == CONFIG:
        study = find_study(path)
        study.warn_of_changed_files()
        return study
    if str(path) == "-":
        sys.stdin.reconfigure(encoding="utf-8-sig")  # type: ignore[union-attr]
        try:
            config = parse_json(sys.stdin.read())
        except ValueError as error:
            raise BiasgridError(f"standard input: not JSON: {error}") from None
        return Study.of(config, "standard input")
    return Study.read(path)


def check_output(output: Path, inputs: list[Path]) -> None:
    """Raise BiasgridError for an output that is one of the inputs, or is inside one of them."""
    places = [output.resolve(), *output.resolve().parents]
    there = {None, *map(_file, places)}
    for path in inputs:
        # Compare files first, because resolving thousands of paths takes seconds.
        if _file(path) in there and path.resolve() in places:
            raise BiasgridError(f"{output}: would be written over {path}; give a different output")


def _file(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file at a path (device and inode), or None if there is none."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def key_values(pairs: list[str], flag: str = "--param") -> dict[str, Any]:
    """Parse arguments of the form KEY=VALUE, in which the value is JSON or YAML."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise BiasgridError(f"{flag} {quote(pair)}: expected KEY=VALUE")
        if key in values:
            raise BiasgridError(f"{flag} {key}: given twice")
        values[key] = _value(f"{flag} {key}", value)
    return values


def _value(where: str, text: str) -> Any:
    from ..core.configs import check_nesting, parse_json, parse_yaml

    # Try JSON first, because YAML reads 1e-4 as a word.
    try:
        value = parse_json(text)
    except ValueError:
        pass
    else:
        try:
            check_nesting(value)
        except ValueError as error:
            raise BiasgridError(f"{where}: {quote(text)}: {error}") from None
        return value
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise BiasgridError(f"{where}: {quote(text)} is neither JSON nor YAML: {error}") from None
