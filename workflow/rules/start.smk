# What every workflow begins with: BLAS threads, the code that runs, and processes that end with this one.
import atexit
import gc
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from threadpoolctl import threadpool_limits

# cells run as threads of this process: BLAS threads inside them would multiply, and change the last bit
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
# Snakemake itself has loaded NumPy, which has read those variables before they were set here
threadpool_limits(1)
# the code that cells depend on is the code that runs: in a checkout that beside the Snakefile (workflow/Snakefile
# includes the one above it), else the installed package, which this file is a part of
for folder in Path(workflow.main_snakefile).resolve().parents[:2]:
    if (folder / "src" / "biasgrid").is_dir():
        sys.path.insert(0, str(folder / "src"))
        break
# profiles/default may have begun to import another copy
origin = getattr(PathFinder.find_spec("biasgrid"), "origin", None)
if getattr(sys.modules.get("biasgrid"), "__file__", origin) != origin:
    for name in [name for name in sys.modules if name.partition(".")[0] == "biasgrid"]:
        del sys.modules[name]

from biasgrid import processes, resources
from biasgrid.workflow import engine
from biasgrid.workflow.warning_log import WarningLog

engine.stop_on_signals(workflow)
engine.compare_params_as_text()
processes.collect_seldom()
# not at all until a run begins, nor when Python ends: hardly one of the many thousand objects of a plan is garbage
gc.disable()
atexit.register(gc.freeze)
WARNING_LOG = WarningLog()
# Python drops warnings about the lines of a file that has no name
__name__ = "workflow"

# of processes that rules start: they run this code, import nothing from the working folder, and end with this process
os.environ.update(processes.environment(resources.PACKAGE.parent))


# on the nodes of a cluster, too
envvars:
    *processes.SAFE_PATH,
