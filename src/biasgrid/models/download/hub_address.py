"""The address of the model hub that a user has set, and the user's token for it."""

from __future__ import annotations

import os
import re

from ...core.errors import BiasgridError

HUB = "https://huggingface.co"


def hub_address() -> str:
    """Return the address of the hub: HF_ENDPOINT, or huggingface.co."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def authorization(url: str) -> dict[str, str]:
    """Return the header with the user's token (HF_TOKEN).

    It is sent only to the user's own hub, and never to an address that a config names.
    """
    token = os.environ.get("HF_TOKEN", "").strip()
    if not token or not url.startswith(f"{hub_address()}/"):
        return {}
    # Without this check, the error about an invalid header would print the token.
    if not re.fullmatch(r"[!-~]+", token):
        raise BiasgridError("HF_TOKEN has signs that no token has")
    return {"Authorization": f"Bearer {token}"}
