"""Functions that the rules of the workflow call: the plan of a study, stores of models, and messages of a run."""
