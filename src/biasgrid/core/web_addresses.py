"""Web addresses in results, records and messages, without the parts that others must not read."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any

# Scheme, user and password, host and path, query and fragment.
_PARTS = r"([a-z][a-z0-9+.-]*://)(?:[^\s/?#]*@)?([^\s?#]*)((?:[?#]\S*)?)"
# An address in a sentence, without the punctuation after it.
_IN_TEXT = re.compile(
    r"([a-z][a-z0-9+.-]*://)(?:[^\s'\"<>/?#]*@)?([^\s'\"<>?#]*)((?:[?#]\S*[^\s'\"<>.,:;)\]}])?)", re.I
)
# A query that requests the file and does not contain a secret: from Dropbox, Zenodo and code hosts.
_HARMLESS = re.compile(r"\?(?:(?:dl|download|raw)=(?:\d|true))?")
SECRETS = "BIASGRID_ADDRESSES"  # environment variable: addresses of sources by their public form, as JSON
_LEFT_OUT = re.compile(r"\?left-out-[0-9a-f]{12}")


def has_user(address: str) -> bool:
    """Return whether an address contains a user name or a password."""
    return "@" in re.split(r"[/?#\\]", address.partition("://")[2])[0]


def has_password(text: str) -> bool:
    """Return whether an address in a text contains a user name and a password."""
    return bool(re.search(r"://[^\s'\"<>/?#@:]*:[^\s'\"<>/?#@]+@", text))


def without_secrets(text: str) -> str:
    """Return a message whose addresses lack user names, passwords and queries."""
    return _IN_TEXT.sub(lambda part: f"{part[1]}{part[2]}{part[3] if _is_open(part[3]) else '?...'}", text)


def public_address(address: str) -> str:
    """Return an address without user name, password, query and fragment.

    A digest of the whole address replaces them, so that two addresses stay different. A public address is
    unchanged.
    """
    part = re.fullmatch(_PARTS, address, re.I)
    if part is None or (_is_open(part[3]) and not has_user(address)):
        return address
    return f"{part[1]}{part[2]}?left-out-{hashlib.sha256(address.encode()).hexdigest()[:12]}"


def public(record: Any, is_source: bool = False) -> Any:
    """Return a copy of a record whose sources, mappings with a `type`, have public addresses."""
    if isinstance(record, Mapping):
        is_source = is_source or isinstance(record.get("type"), str)
        return {key: public(value, is_source) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [public(value, is_source) for value in record]
    return public_address(record) if is_source and isinstance(record, str) else record


def share_secrets(sources: Any) -> None:
    """Let the processes that this one starts know the whole addresses in sources, whose records lack their secrets.

    They learn them from the environment, which only processes of this user can read.
    """
    if secrets := _secrets(sources):
        os.environ[SECRETS] = json.dumps(secrets)


def with_secrets(source: Any) -> Any:
    """Return a copy of a source with the whole addresses, as far as the process that started this one shares them."""
    shared = json.loads(os.environ.get(SECRETS, "{}"))

    def restored(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: restored(entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return [restored(entry) for entry in value]
        return shared.get(value, value) if isinstance(value, str) else value

    return restored(source) if shared else source


def _secrets(record: Any) -> dict[str, str]:
    """Return the addresses in a record that are not public, by their public form."""
    if isinstance(record, Mapping):
        return _secrets(list(record.values()))
    if isinstance(record, (list, tuple)):
        return {short: whole for value in record for short, whole in _secrets(value).items()}
    if isinstance(record, str) and (short := public_address(record)) != record:
        return {short: record}
    return {}


def is_left_out(address: str) -> bool:
    """Return whether an address is a public one that lacks its query."""
    return bool(_LEFT_OUT.search(address))


def _is_open(query: str) -> bool:
    return bool(_HARMLESS.fullmatch(query) or _LEFT_OUT.fullmatch(query)) or not query
