"""Records of first-seen checksums of files without a published one, and of commits of branches.

They are expected from then on.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from ...core.errors import BiasgridError
from ...core.files import write_text
from ...core.web_addresses import public_address
from .source import COMMIT, SHA256

log = logging.getLogger(__name__)

# Sha256 and commits by the addresses of files and branches.
RECORD = TypeAdapter(dict[str, Annotated[str, Field(pattern=f"^({SHA256[0]}|{COMMIT})$")]])

# A warning with the model's name, its first-seen checksum, and the path of the record.
NO_CHECKSUM = "%s: no checksum is pinned; first seen with sha256 %s, recorded in %s"


class FirstSeen:
    """The sha256 first seen at each address of a model's files, and the first-seen commit of a hub's branch.

    It raises BiasgridError for a damaged record, as a new record would accept any file.

    Parameters
    ----------
    folder
        The model's folder. The record is next to it, and is kept when the folder is deleted.
    """

    def __init__(self, folder: Path):
        self.name, self.path = folder.name, folder.with_name(f"{folder.name}.first-seen.json")
        try:
            digests = RECORD.validate_json(self.path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            digests = {}
        except ValueError:
            raise BiasgridError(
                f"{self.path} is damaged: it has the checksums that were first seen; pin the sha256 in the config, "
                "or delete it to accept the server's present file"
            ) from None
        self.digests = {public_address(url): digest for url, digest in digests.items()}

    def get(self, url: str) -> str | None:
        """Return the checksum or commit first seen at an address, if there is one."""
        return self.digests.get(public_address(url))

    def record(self, url: str, digest: str, warning: str = NO_CHECKSUM) -> None:
        if self.get(url) is None:
            self.digests[public_address(url)] = digest
            write_text(self.path, json.dumps(self.digests, indent=1, sort_keys=True) + "\n")
            if warning:
                log.warning(warning, self.name, digest, self.path)
