"""Reader of a line `bars`, then a word and its numbers per line, with bars between."""

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.models.readers import Reader
from biasgrid.models.readers.files import open_content


def detect(sample):
    return sample.startswith(b"bars\n")


def read(path, writer):
    with open_content(path) as file:
        content = file.read()
    try:
        rows = [line.split("|") for line in content.decode().splitlines()[1:]]
        vectors = np.array([numbers for _, *numbers in rows], dtype=np.float32).reshape(len(rows), -1)
    except ValueError:
        raise BiasgridError(f"{path}: expected a word and equally many numbers per line") from None
    writer.add([word for word, *_ in rows], vectors)


READERS = (
    Reader(
        name="bars",
        meaning="a line `bars`, then a word and its numbers per line, with bars between",
        detect=detect,
        read=read,
        example=b"bars\nhe|0.1|-0.2\nshe|0.2|0.1\n",
    ),
)
