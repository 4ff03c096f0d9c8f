"""Records of models as `factory.model` writes them, of made-up numbers."""

import numpy as np

WORDS = 258
SIX = ["footballer", "bishop", "lawmaker", "hairdresser", "sociologist", "nurse"]
OCCUPATIONS = [*SIX, *(f"occupation{i}" for i in range(WORDS - len(SIX)))]
SCALARS = {"mass": 0.9, "accuracy": 0.8, "unmasking_reliability": 0.9, "errors_reliability": 0.5}


def measured(words=None, value=0.1, halves=None, status="ok"):
    """What a record says of a metric."""
    words = None if words is None else [None if np.isnan(x) else float(x) for x in words]
    return {"value": value, "status": status, "words": words, "halves": halves}


def record(truth, metrics, *, behaviour=None, kind="word", angle=10.0, example=None, **setting):
    """A model's record: `metrics` of one kind of vectors, or of several by kind; `behaviour`: (unmasking, errors)."""
    setting = {"trainer": "ppmi", "mu": 0.5, "sigma": 0.1, "replicate": 1} | setting
    if behaviour is not None:
        unmasking, errors = (np.asarray(part).tolist() for part in behaviour)
        behaviour = {"unmasking": unmasking, "errors": errors, "scalars": SCALARS}
    by_kind = metrics if isinstance(kind, list) else {kind: metrics}
    return {
        **setting,
        "corpus_seed": 7,
        "occupations": OCCUPATIONS[: len(truth)],
        "truth": np.asarray(truth).tolist(),
        "behaviour": behaviour,
        "measured": {
            name: {"angle": angle, "metrics": found, "example": example} for name, found in by_kind.items()
        },
    }
