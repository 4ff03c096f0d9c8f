"""The types of figures: what a panel of each looks like. A kind of figure says which, and with what."""
