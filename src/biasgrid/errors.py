"""The one exception that means "your input is wrong", as opposed to "biasgrid is wrong"."""

import re

# what would end a line, or be taken as a command by a terminal
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class BiasgridError(ValueError):
    """Bad input. Its message is one line: what is wrong, where (file, key, word), what is allowed.

    Control characters, which names from damaged files may have, are written as in Python's literals. The command line
    prints it and exits with code 2; the workflow names the job that raised it.
    """

    def __init__(self, message: str):
        super().__init__(CONTROL.sub(lambda found: repr(found[0])[1:-1], message))
