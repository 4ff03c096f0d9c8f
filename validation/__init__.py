"""Experiments that validate biasgrid as an instrument: validation/README.md

Whether its p-values are calibrated, whether its metrics recover a bias that is known, and what they cannot see. They
stand on biasgrid, and nothing in biasgrid knows them.
"""
