"""Views of results in Python and notebooks: tables, ranks, summaries and figures of a grid."""
