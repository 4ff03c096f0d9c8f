"""Large files over HTTP, in one piece or in parts: resumed, retried, verified; complete or not there at all.

What this module holds needs no HTTP client, so that a study can be planned without one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import NetworkError


@dataclass(frozen=True)
class Limits:
    """How patient a download is; times in seconds."""

    attempts: int = 7  # failures in a row, without one new byte between them, after which it gives up
    backoff: float = 0.5  # before the second attempt; doubled for every further failure
    longest_wait: float = 60.0  # between two attempts, also where the server's Retry-After asks for more
    stall: float = 30.0  # without a byte, after which a connection counts as lost
    reach: float = 10.0  # without a connection, after which a host counts as unreachable
    answer: float = 60.0  # for all that comes before a body: handshakes, redirects, headers
    slowest: float = 1000.0  # bytes per second, on the average of `stall` seconds; less counts as nothing
    largest: int = 1 << 34  # bytes of a body whose length is not announced (16 GiB)
    announced: int = 1 << 60  # bytes of a body whose length is


LIMITS = Limits()


class WrongHash(NetworkError):
    """The whole file arrived, and it is not the one that was asked for."""


# what to do about it
WRONG_HASH = "nothing was kept: the file on the server has changed, or the checksum is wrong"
