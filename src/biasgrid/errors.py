"""The one exception that means "your input is wrong", as opposed to "biasgrid is wrong"."""


class BiasgridError(ValueError):
    """Bad input. Its message is one line: what is wrong, where (file, key, word), what is allowed.

    The command line prints it and exits with code 2; the workflow names the job that raised it.
    """
