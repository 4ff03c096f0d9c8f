"""x"""

from matplotlib.figure import Figure


def against_truth(*a):
    return Figure()


def word_level(*a):
    return Figure()
