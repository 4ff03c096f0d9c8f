"""What a refusal is: one short line that names what is wrong."""

import re
import tempfile
from contextlib import contextmanager

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
