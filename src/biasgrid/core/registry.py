"""Registries of extensions (metrics, debias methods, tables, figures, ...), which are discovered automatically.

A Python file in the type's package, in an installed package or in a user's folder defines a tuple with the
type's name (`METRICS`, `TABLES`, ...); nothing else is needed. Installed packages name modules under the
entry point group "biasgrid". A study's config names under `plugins` folders and files of a user, or plugins
that come with biasgrid. Plugins are code, which runs with the study. Its results describe in plain data which
entries of plugins it used (`Registry.note`), so that results can be read without loading plugins.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from .errors import BiasgridError, InputError, did_you_mean, join_names, quote, unknown_name
from .moved import present_name
from .resources import resource

T = TypeVar("T", bound=Any)  # an entry, which has a `name`
GROUP = "biasgrid"  # group of entry points
PREFIX = "biasgrid_plugin_"  # beginning of the names of plugins' modules
INIT = "__init__.py"  # a folder of plugins with this file is a package
PLUGINS: dict[str, ModuleType] = {}  # loaded modules of a user's files, by path
_PENDING: ContextVar[bool] = ContextVar("pending", default=False)


class UnknownAttributeError(InputError, AttributeError):
    """An attribute that a package of discovered entries does not have, such as `metrics.WEAT`."""


class UnknownEntryError(BiasgridError, KeyError):
    """A name that no entry of a registry has."""

    # KeyError's own method would print the message as a literal.
    __str__ = Exception.__str__


@contextmanager
def pending() -> Iterator[None]:
    """Mark that a config is checked before its plugins are loaded, so unknown names may be theirs (`is_pending`)."""
    token = _PENDING.set(True)
    try:
        yield
    finally:
        _PENDING.reset(token)


def is_pending() -> bool:
    """Return whether an unknown name may belong to a plugin that is not loaded yet."""
    return _PENDING.get()


class Registry(Mapping[str, T]):
    """The entries of one type by name, in the order of their files' names, with those from plugins last.

    Parameters
    ----------
    package
        The package whose modules define them.
    attribute
        The name of the modules' tuples of entries, such as "METRICS".
    what
        The word for an entry in messages, such as "metric".
    topic
        The entries' name in `biasgrid list`; by default the package's name.
    gone
        Messages for names of former entries, by name.
    replacement
        Returns what to say instead of `package.other_name`, given an entry and another name of it.
    """

    def __init__(
        self,
        package: str,
        attribute: str,
        what: str,
        topic: str = "",
        gone: Mapping[str, str] | None = None,
        replacement: Callable[[T, str], str] = lambda entry, name: entry.name,
    ):
        self._gone = gone or {}
        self.package, self.attribute, self.what = package, attribute, what
        self.topic = topic or package.rpartition(".")[2]
        self._entries: dict[str, T] = {}
        self._modules: dict[str, ModuleType] = {}  # the module of each entry
        self._read: set[str] = set()  # names of modules whose entries were added
        self._session_names: set[str] = set()  # entries that this session defined outside of files
        self._noted: dict[str, T] = {}  # entries without code, from results
        self._lock = threading.RLock()  # steps of the workflow are threads
        self._replacement = replacement

    def __getitem__(self, name: str) -> T:
        entries, noted = self._all_entries(), self._known_from_results
        if name not in entries and name not in noted:
            raise UnknownEntryError(self.of_plugin(name) or f"unknown {self.what} {quote(name)}")
        return entries[name] if name in entries else noted[name]

    def __contains__(self, name: object) -> bool:
        # For an unknown name, `__getitem__` would search all plugins for its message.
        return name in self._all_entries() or name in self._known_from_results

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_entries())

    def __len__(self) -> int:
        return len(self._all_entries())

    # Mapping's own methods look at all modules once for each entry.
    def values(self) -> ValuesView[T]:
        return self._all_entries().values()

    def items(self) -> ItemsView[str, T]:
        return self._all_entries().items()

    def find(self, name: str) -> T:
        """Return the entry with a name or alias; case, spaces, hyphens and underscores do not matter.

        Raises UnknownEntryError that names the entries.
        """
        if (
            isinstance(name, str) and name in self._all_entries()
        ):  # fast, because plans call this for each cell
            return self._entries[name]
        entry = find_by_name(name, (*self.values(), *self._known_from_results.values()))
        if entry is not None:
            return entry
        raise UnknownEntryError(self.unknown(name))

    @property
    def _known_from_results(self) -> Mapping[str, T]:
        """Return the entries without code; none while plugins that define them may still be loaded."""
        return {} if is_pending() else self._noted

    def unknown(self, name: object, choices: Iterable[str] | None = None) -> str:
        """Return a message's text for a name that no entry has.

        It names the plugin to load if a plugin that comes with biasgrid has the entry. Otherwise it lists the
        `choices`, by default the names of all entries.
        """
        if isinstance(name, str) and name in self._gone:
            return self._gone[name]
        names = sorted(self) if choices is None else choices
        return self.of_plugin(name) or unknown_name(self.what, name, names, f"biasgrid list {self.topic}")

    def of_plugin(self, name: object) -> str:
        """Return instructions to load the shipped plugin that has an entry (`plugin_of`), or ""."""
        if not (plugin := self.plugin_of(name)):
            return ""
        return (
            f"{self.what} {quote(name)} is in the plugin {plugin!r}, which comes with biasgrid; load it: in a config "
            f"plugins: [{plugin}], on the command line --plugins {plugin}, in Python "
            f"biasgrid.load_plugins([{plugin!r}])"
        )

    def plugin_of(self, name: object) -> str:
        """Return the plugin that comes with biasgrid and has an entry with this name, or "".

        No plugin is loaded. In these plugins, the file of an entry has the entry's name, and the folder the
        package's name.
        """
        folder, plain_name = self.package.rpartition(".")[2], _normalise(name)
        for plugin, place in shipped_plugins().items():
            if any(_normalise(file.stem) == plain_name for file in (place / folder).glob("*.py")):
                return plugin
        return ""

    def add(self, entry: T) -> None:
        """Add an entry that was defined in this session, such as in a notebook's cell, until the session ends.

        It replaces an entry of the same name that was added before, or that a user's file has. Raises
        BiasgridError if the package has an entry of this name.
        """
        with self._lock:
            namesake = self._all_entries().get(entry.name)
            if namesake is entry:
                return
            if namesake is not None and not self._is_users(entry.name):
                raise BiasgridError(
                    f"another {self.what} is named {entry.name!r} ({self.file(entry.name)}); "
                    "give yours a different name"
                )
            self._entries[entry.name] = entry
            self._modules[entry.name] = sys.modules.get(entry.function.__module__, sys.modules[__name__])
            self._session_names.add(entry.name)

    def note(self, entry: T) -> None:
        """Add the description of a plugin's entry from results, without code, because the plugin is not loaded.

        It is found by its name, and not listed. An entry with code takes precedence, and so does the later of
        two descriptions with the same name.
        """
        self._noted[entry.name] = entry

    def is_noted(self, name: str) -> bool:
        """Return whether an entry with that name or alias is known only from results."""
        return (
            find_by_name(name, self._noted.values()) is not None and find_by_name(name, self.values()) is None
        )

    def is_shipped(self, name: str) -> bool:
        """Return whether an entry comes with biasgrid and not from a user or another package."""
        return name not in self._session_names and self.module(name).startswith(f"{GROUP}.")

    def _is_users(self, name: str) -> bool:
        """Return whether an entry is defined in this session, or in a user's file."""
        return name in self._session_names or self._modules[name] in PLUGINS.values()

    @property
    def session_entries(self) -> list[T]:
        """Return the entries of this session, which other processes do not find."""
        return [self._entries[name] for name in self._session_names]

    def member(self, name: str) -> T:
        """Return the entry as the attribute `package.name`.

        Raises UnknownAttributeError for a name that no entry has.
        """
        # Tools look up many private names, which are never entries.
        if not name.startswith("_") and name in self._all_entries():
            return self._entries[name]
        raise UnknownAttributeError(self._no_attribute(name))

    def _no_attribute(self, name: str) -> str:
        package = self.package.rpartition(".")[2]
        if name.startswith("_"):
            return f"module {self.package!r} has no attribute {name!r}"
        try:
            return f"{package}.{name}: {self._replacement(self.find(name), name)}"
        except BiasgridError as error:
            return f"{package}.{name}: {error}"

    def module(self, name: str) -> str:
        """Return the name of the module that defines an entry; results of the entry depend on this code."""
        return self._modules[self.find(name).name].__name__

    def file(self, name: str) -> Path:
        """Return the file that defines an entry."""
        return Path(str(self._modules[self.find(name).name].__file__))

    def _all_entries(self) -> dict[str, T]:
        with self._lock:
            if not self._read:
                folder = importlib.import_module(self.package).__path__
                modules = (info.name for info in pkgutil.iter_modules(folder) if not info.ispkg)
                for name in sorted(modules):
                    self._add_module(importlib.import_module(f"{self.package}.{name}"))
                for module in _installed_modules():
                    self._add_module(module)
            for module in PLUGINS.values():
                if module.__name__ not in self._read:
                    self._add_module(module)
            return self._entries

    def _add_module(self, module: ModuleType) -> None:
        self._read.add(module.__name__)
        for entry in getattr(module, self.attribute, ()):
            # An entry that was defined in this session may have been moved to a file.
            if entry.name in self._entries and entry.name not in self._session_names:
                raise BiasgridError(
                    f"{module.__file__}: another {self.what} is named {entry.name!r} "
                    f"({self._modules[entry.name].__file__}); rename one of them"
                )
            self._entries[entry.name] = entry
            self._modules[entry.name] = module
            self._session_names.discard(entry.name)


def find_by_name(name: str, entries: Iterable[T]) -> T | None:
    """Return the entry with a name or alias, or None; case, spaces, hyphens and underscores do not matter."""
    plain_name = _normalise(name)
    return next(
        (e for e in entries if plain_name in map(_normalise, (e.name, *getattr(e, "aliases", ())))), None
    )


@lru_cache
def shipped_plugins() -> Mapping[str, Path]:
    """Return the folders of the plugins that come with biasgrid, by the names that configs use."""
    return {path.parent.name: path.parent for path in sorted(resource("plugins").glob(f"*/{INIT}"))}


def load_plugins(paths: Iterable[Path | str]) -> None:
    """Load files, and the files of folders, so that registries contain their entries.

    A file is loaded once per process. A folder with an `__init__.py` is a package, whose files may import
    each other (`from .metrics import x`), and may be in subfolders.

    Parameters
    ----------
    paths
        Paths of files and folders, or names of plugins that come with biasgrid (`shipped_plugins`). Such a
        name takes precedence over files in the working folder.

    Raises
    ------
    BiasgridError
        A path is missing, or a file fails.
    """
    for path in paths:
        folder = plugin_path(path)
        is_package = (folder / INIT).is_file()
        for file in plugin_files(folder):
            place = str(file.resolve())
            if place not in PLUGINS:
                PLUGINS[place] = _load_plugin(file, folder if is_package else None)


def loaded_plugins() -> list[Path]:
    """Return the files and folders of the plugins that this process has loaded, for another process to load."""
    tops = {module.__name__.partition(".")[0] for module in PLUGINS.values()}
    modules: list[Any] = [sys.modules[top] for top in sorted(tops) if top in sys.modules]
    return [Path(m.__file__).parent if hasattr(m, "__path__") else Path(m.__file__) for m in modules]


def plugin_path(path: Path | str) -> Path:
    """Return the file or folder of an entry of `plugins`."""
    return shipped_plugins().get(path, Path(path)) if isinstance(path, str) else path


def plugin_files(path: Path) -> list[Path]:
    """Return the file, or the files of the folder, that a config names.

    Raises BiasgridError for a path that is missing.
    """
    if not path.exists():
        names = join_names(shipped_plugins())
        nearest = did_you_mean(path.name, shipped_plugins())
        raise BiasgridError(f"plugins: {path}: no such file or folder; {nearest}with biasgrid come: {names}")
    if not path.is_dir():
        return [path]
    if (init := path / INIT).is_file():
        return [init, *sorted(file for file in path.rglob("*.py") if file != init)]
    return sorted(path.glob("*.py"))


def _load_plugin(file: Path, package: Path | None) -> ModuleType:
    """Load the module of a file; in a package, under the name of its place there."""
    parts = [file.stem] if package is None else [package.resolve().name, *file.relative_to(package).parts]
    parts[-1] = parts[-1].removesuffix(".py")
    if not all(part.isidentifier() for part in parts) or file.suffix != ".py":
        raise BiasgridError(f"plugins: {file}: a file's name must be a name in Python, such as my_metric.py")
    if parts[-1] == "__init__":
        parts.pop()
    name = PREFIX + ".".join(parts)
    top = sys.modules.get(PREFIX + parts[0])
    if top is not None and (package is None or not _is_module_of(top, package)):
        raise BiasgridError(f"plugins: {file}: another plugin has this name ({top.__file__})")
    try:
        if package is not None and name in sys.modules:  # imported by another file of the package
            return sys.modules[name]
        if len(parts) > 1:
            return importlib.import_module(name)
        loader = _PluginLoader(name, str(file))
        spec: Any = importlib.util.spec_from_file_location(name, file, loader=loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module
    except Exception as error:
        new = present_name(error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        moved = f"; it is now {new}" if new else ""
        raise BiasgridError(f"plugins: {file}: {type(error).__name__}: {error}{moved}") from None


class _PluginLoader(SourceFileLoader):
    """A loader that compiles a plugin's file whenever a process loads it.

    Python would reuse cached bytecode if a changed file has the same size and time, in seconds, as the former
    one.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _PluginFinder:
    """A finder of the files that a plugin's file imports from its own package."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        spec = PathFinder.find_spec(name, path, target) if name.startswith(PREFIX) and path else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _PluginLoader(name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _PluginFinder)


def _is_module_of(module: ModuleType, package: Path) -> bool:
    return [Path(place).resolve() for place in getattr(module, "__path__", ())] == [package.resolve()]


@lru_cache
def _installed_modules() -> list[ModuleType]:
    """Return the modules that installed packages name."""
    modules = []
    for point in entry_points(group=GROUP):
        try:
            modules.append(point.load())
        except Exception as error:
            raise BiasgridError(
                f"entry point {point.name!r} of {point.dist.name if point.dist else 'a package'}: "
                f"{type(error).__name__}: {error}"
            ) from None
    return modules


def _normalise(name: Any) -> str:
    return str(name).lower().replace("-", "").replace("_", "").replace(" ", "")
