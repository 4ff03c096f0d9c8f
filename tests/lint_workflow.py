"""`snakemake --lint` on the workflow and on that of the experiments (`make lint-files`).

No rule has an environment of conda: all run in the one that biasgrid is in.
"""

import os
import re
import sys
from pathlib import Path

import forks

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ("validation/calibration/simulation.yaml", "validation/planted_bias/factory.yaml")
WORKFLOWS = (("Snakefile",), *(("validation/experiment.smk", "--configfile", file) for file in EXPERIMENTS))
MEANT = {"Specify a conda environment or container for each rule.:"}

for workflow in WORKFLOWS:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = forks.run(("--lint", "--snakefile", *workflow), ROOT, environment)
    said = re.findall(r"^    \* (.+)", done.stdout + done.stderr, re.M)
    if set(said) - MEANT or (done.returncode == 0) != (not said):
        sys.exit(f"snakemake --lint --snakefile {' '.join(workflow)}\n{done.stdout}{done.stderr}")
