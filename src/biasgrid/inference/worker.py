"""A process that infers for the workflow: threads of one process would take turns in the interpreter.

Standard input: the study as JSON on one line, then model/debias/metric a line. Standard output: null for each that
was inferred, or [whether the input is wrong, why it failed]. The process ends with its input, and so with its parent.
"""

from __future__ import annotations

import json
import signal
import sys
import traceback

from ..errors import BiasgridError
from ..study import Study
from . import infer_cells


def main() -> None:
    """Infer until there is no more to infer."""
    # the parent is interrupted, and ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    study = Study.of(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        answer = None
        try:
            infer_cells(study, study.inference_groups[line.strip()])
        except BiasgridError as error:
            answer = [True, str(error)]
        except Exception:
            answer = [False, traceback.format_exc()]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
