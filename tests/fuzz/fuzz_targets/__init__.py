"""Targets of the fuzz tests: each module makes damaged or hostile input of a kind (../test_fuzz.py)."""
