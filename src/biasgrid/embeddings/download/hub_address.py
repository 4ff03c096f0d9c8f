"""The model hub that a user has set, and what its server is told of the user."""

from __future__ import annotations

import os
import re

from ...errors import BiasgridError

HUB = "https://huggingface.co"


def hub_address() -> str:
    """The hub that names stand for: that of HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def authorization(url: str) -> dict[str, str]:
    """The header with the user's token (HF_TOKEN). Only the user's own hub is sent it, and never an address that a
    config names."""
    token = os.environ.get("HF_TOKEN", "").strip()
    if not token or not url.startswith(f"{hub_address()}/"):
        return {}
    if not re.fullmatch(r"[!-~]+", token):  # the error of a header that cannot be sent would print it
        raise BiasgridError("HF_TOKEN has signs that no token has")
    return {"Authorization": f"Bearer {token}"}
