"""Views of results in Python and notebooks: tables, ranks, summaries and figures of a grid, and cards of a result."""
