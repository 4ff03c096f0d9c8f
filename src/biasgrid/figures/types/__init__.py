"""Types of figures: the look of their panels. A kind of figure chooses a type and supplies its data."""
