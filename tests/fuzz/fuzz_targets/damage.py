"""How files get damaged, and what a refusal is: what target modules share. It has no targets itself."""

from __future__ import annotations

import random

from biasgrid.core.errors import BiasgridError

# what parsers trip over: borders of integer types, brackets, signs, quotes, other types' bytes
ODD = [
    b"\x00", b"\xff", b"\x80", b"\x7f", b"\n", b"\r", b" ", b"\t", b'"', b"'", b"\\", b",", b":", b"-", b"+", b".",
    b"0", b"00", b"1e999", b"nan", b"NaN", b"Infinity", b"null", b"true", b"{", b"}", b"[", b"]", b"(", b")",
    b"[" * 50, b"9" * 5000, b"1000000000", b"2147483648", b"4294967296", b"9223372036854775808", b"-1", b"1.9",
    b"0882", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\xff" * 7 + b"\x7f", b"\x00" * 8,
    b"\xed\xa0\x80", b"\xef\xbb\xbf",
]  # fmt: skip


class Refused(Exception):
    """An input was refused."""


def accepted(call, *arguments, naming: object = "", **options):
    """What the call returns; Refused where it refuses its input in one short line that has `naming` in it."""
    try:
        return call(*arguments, **options)
    except BiasgridError as error:
        told = str(error)
    assert "\n" not in told, "more than one line"
    assert len(told) < 2000, f"a message of {len(told)} characters"
    assert str(naming) in told, told
    raise Refused


def damaged(content: bytes, chance: random.Random, times: int | None = None) -> bytes:
    """The content with one to four changes: bits, bytes, numbers, pieces cut out, moved, repeated, or put in."""
    for _ in range(chance.choice([1, 1, 1, 2, 4]) if times is None else times):
        place = chance.randrange(len(content) + 1)
        if chance.random() < 0.3:  # headers come first
            place = min(place, chance.randrange(200))
        length = chance.choice([1, 1, 2, 4, 8, 64, 1000])
        piece = content[place : place + length]
        kind = chance.randrange(9)
        if kind == 0 and piece:
            bit = piece[0] ^ (1 << chance.randrange(8))
            content = content[:place] + bytes([bit]) + content[place + 1 :]
        elif kind == 1:
            content = content[:place] + chance.randbytes(len(piece)) + content[place + len(piece) :]
        elif kind == 2:
            content = content[:place] + content[place + length :]
        elif kind == 3:
            content = content[:place]
        elif kind == 4:
            content = content[:place] + piece * chance.choice([2, 3, 50]) + content[place + len(piece) :]
        elif kind == 5:
            content = content[:place] + chance.choice(ODD) + content[place:]
        elif kind == 6:
            odd = chance.choice(ODD)
            content = content[:place] + odd + content[place + len(odd) :]
        elif kind == 7:
            other = chance.randrange(len(content) + 1)
            content = content[:place] + content[other : other + length] + content[place:]
        else:  # a digit or a count, more or less
            numbers = [i for i in range(place, min(place + 300, len(content))) if 48 <= content[i] < 58]
            if numbers:
                at = numbers[0]
                content = content[:at] + str(chance.randrange(12)).encode() + content[at + 1 :]
    return content
