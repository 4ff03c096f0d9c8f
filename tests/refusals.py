"""What a refusal is: one short line that names what is wrong; and tables of refusals."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from biasgrid import BiasgridError


@contextmanager
def refused(*parts, kind=BiasgridError):
    """What is inside fails in one line, short beside its paths and checksums, that holds these parts."""
    with pytest.raises(kind) as error:
        yield error
    told = str(error.value)
    assert "\n" not in told
    assert len(re.sub(rf"{tempfile.gettempdir()}\S*/|[0-9a-f]{{64}}", "", told)) < 460
    assert [part for part in parts if part not in told] == [], told


@dataclass(frozen=True)
class Refusal:
    """A row of a table of refusals.

    name  what is wrong
    call  what is asked for: its parameters are fixtures
    says  what the message must hold: the key, the allowed values, the nearest name
    kind  a class of the error, beside BiasgridError
    """

    name: str
    call: Callable[..., object]
    says: tuple[str, ...]
    kind: type[Exception]

    def check(self, request: pytest.FixtureRequest) -> None:
        """Fail unless the call raises a user's error of one line with all that it must hold."""
        fixtures = {name: request.getfixturevalue(name) for name in inspect.signature(self.call).parameters}
        with refused(*self.says) as error:
            self.call(**fixtures)
        assert isinstance(error.value, self.kind)


def row(name: str, call: Callable[..., object], *says: str, kind: type[Exception] = BiasgridError) -> Refusal:
    """Return a row of a table of refusals."""
    return Refusal(name, call, says, kind)


def table(*rows: Refusal) -> pytest.MarkDecorator:
    """Return a mark that tests each of these rows."""
    return pytest.mark.parametrize("refusal", rows, ids=[row.name for row in rows])


def written(path: Path, text: str | bytes) -> Path:
    """Write a file, and return its path."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
