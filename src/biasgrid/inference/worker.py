"""A process that infers for the workflow: threads of one process would take turns in the interpreter.

Standard input: the study as JSON on one line, then model/debias/metric a line. Standard output: null for each that
was inferred, or [whether the input is wrong, why it failed]. The process ends with its input, and with its parent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback

from ..errors import BiasgridError
from ..processes import end_with_starter
from ..study import Study
from . import infer_cells


def main() -> None:
    """Infer until there is no more to infer."""
    # the parent is interrupted, and ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_starter()
    first = sys.stdin.readline()
    if not first.endswith("\n"):  # its parent ended before it had said anything
        return
    study = Study.of(json.loads(first))
    for line in sys.stdin:
        answer = None
        try:
            infer_cells(study, study.inference_groups[line.strip()])
        except BiasgridError as error:
            answer = [True, str(error)]
        except Exception:
            answer = [False, traceback.format_exc()]
        try:
            print(json.dumps(answer), flush=True)
        except BrokenPipeError:  # nobody waits for it; what Python would print at its end neither
            os._exit(1)


if __name__ == "__main__":
    main()
