"""Downloads of large files over HTTP, whole or in parts: resumed, retried and verified; a file is complete or absent.

The HTTP client is requests. pooch cannot resume a download, and neither pooch nor huggingface_hub limits how long or
how large an answer is. This module does not need an HTTP client, so that a study can be planned without one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors import NetworkError


@dataclass(frozen=True)
class Limits:
    """Limits of a download's retries, times (in seconds) and sizes (in bytes).

    Attributes
    ----------
    attempts
        The number of consecutive failures without a new byte after which the download gives up.
    backoff
        The wait before the second attempt; it doubles with every further failure.
    longest_wait
        The longest wait between two attempts, even if the server's Retry-After is longer.
    stall
        The time without a byte after which a connection counts as lost.
    reach
        The time after which no further attempt is made to reach a host that has never sent anything.
    answer
        The time allowed before a body: for the look-up of a name, handshakes, redirects and headers.
    slowest
        The lowest rate in bytes per second, averaged over `stall` seconds, that counts as progress.
    largest
        The largest body if its length is not announced (16 GiB).
    announced
        The largest body if its length is announced.
    """

    attempts: int = 7
    backoff: float = 0.5
    longest_wait: float = 60.0
    stall: float = 30.0
    reach: float = 10.0
    answer: float = 60.0
    slowest: float = 1000.0
    largest: int = 1 << 34
    announced: int = 1 << 60


LIMITS = Limits()


class WrongHash(NetworkError):
    """An error: the whole file arrived, but its hash is not the expected one."""


# The explanation in messages.
WRONG_HASH = "nothing was kept: the file on the server has changed, or the checksum is wrong"
