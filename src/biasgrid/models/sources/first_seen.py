"""Records of first-seen checksums of files without a published one, and of commits of branches.

They are expected from then on.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from ...core.errors import BiasgridError
from ...core.files import write_text
from ...core.web_addresses import public_address
from .source import COMMIT, SHA256

log = logging.getLogger(__name__)

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
            self.digests = json.loads(self.path.read_text(encoding="utf-8"))
            forms = f"{SHA256[0]}|{COMMIT}"
            whole = all(re.fullmatch(forms, digest) for digest in self.digests.values())
            self.digests = {public_address(url): digest for url, digest in self.digests.items()}
        except (FileNotFoundError, NotADirectoryError):
            self.digests, whole = {}, True
        except (ValueError, TypeError, AttributeError, RecursionError):
            whole = False
        if not whole:
            raise BiasgridError(
                f"{self.path} is damaged: it has the checksums that were first seen; pin the sha256 in the config, "
                "or delete it to accept the server's present file"
            )

    def get(self, url: str) -> str | None:
        """Return the checksum or commit first seen at an address, if there is one."""
        return self.digests.get(public_address(url))

    def record(self, url: str, digest: str, warning: str = NO_CHECKSUM) -> None:
        if self.get(url) is None:
            self.digests[public_address(url)] = digest
            write_text(self.path, json.dumps(self.digests, indent=1, sort_keys=True) + "\n")
            if warning:
                log.warning(warning, self.name, digest, self.path)
