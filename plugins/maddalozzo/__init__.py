"""Metrics, tables and figures of Maddalozzo's thesis (Politecnico di Torino 2023)."""
