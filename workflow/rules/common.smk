# The study that the config declares, and what happens when a step of it fails.
import fcntl

from snakemake.exceptions import WorkflowError

from biasgrid.errors import BiasgridError
from biasgrid.study import Study

try:
    STUDY = Study.of(config, where=", ".join(map(str, workflow.configfiles)) or "config")
except BiasgridError as error:
    print(f"biasgrid: {error}", file=sys.stderr)
    sys.exit(2)

RESULTS = str(STUDY.results)
EMBEDDINGS = STUDY.config["embeddings"]
SOURCES = Path(workflow.basedir) / "src" / "biasgrid"
LOCK = []  # this run's lock file, open as long as the run
FAILED = {}  # what failed -> one line that says why


def step(name, function, *args, **options):
    """Run one step of the workflow; its failure is kept for the summary at the end."""
    try:
        return function(*args, **options)
    except BiasgridError as error:
        FAILED[name] = str(error)
        raise WorkflowError(str(error)) from None
    except Exception as error:
        FAILED[name] = f"{type(error).__name__}: {error}"
        raise


def source(name):
    """A module of the package as an input: editing it re-runs what depends on it; moving the project does not."""
    return os.path.relpath(SOURCES / name)


onstart:
    # Snakemake's own lock outlives a killed run and has to be taken off by hand (the profile turns it off). This
    # one ends with the process that holds it.
    LOCK.append(open(".biasgrid.lock", "w"))
    try:
        fcntl.flock(LOCK[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("biasgrid: another run is at work in this folder; wait for it or stop it", file=sys.stderr)
        os._exit(2)


onerror:
    downloads = {name.partition(" ")[2]: why for name, why in FAILED.items() if name.startswith("download ")}
    for name, why in FAILED.items():
        if not name.startswith("download "):
            print(f"biasgrid: {name} failed: {why}", file=sys.stderr)
    if downloads:
        reasons = "; ".join(f"{model} ({why})" for model, why in downloads.items())
        print(
            f"biasgrid: could not download {reasons}. What needs no network but a package registry is the embedded "
            "study: make study, or snakemake --cores 2 --configfile config/embedded.yaml",
            file=sys.stderr,
        )
