"""Whether numbers are the same on other processors, with other threads and another Python: `make test-portable`.

    python tests/portable.py [OTHER_PYTHON]

Runs the tests that compare numbers once per setting: OpenBLAS's kernels of other processors, NumPy without AVX512 and
without AVX2, the C library without FMA, one and two threads. A kernel that this processor cannot run is skipped, and
so is Python 3.13 without OTHER_PYTHON; both are said.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SENSITIVE = ("test_finished_study.py", "measure/statistics", "metrics", "debias")
SIMD = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
NO_AVX512 = tuple(name for name in SIMD if name.startswith("AVX512") or name == "X86_V4")
NO_AVX2 = tuple(name for name in SIMD if name in ("AVX2", "FMA3", "X86_V3")) + NO_AVX512


@dataclass(frozen=True)
class Setting:
    """A kernel of OpenBLAS, what of the processor it needs, threads, and what NumPy and the C library do without."""

    kernel: str
    needs: str
    threads: int
    disabled: tuple[str, ...] = ()
    c_library: str = ""

    @property
    def name(self) -> str:
        disabled = f", NumPy without {' '.join(self.disabled)}" if self.disabled else ""
        return f"OpenBLAS {self.kernel}, threads: {self.threads}{disabled}"

    @property
    def variables(self) -> dict[str, str]:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.threads))
        without = {"NPY_DISABLE_CPU_FEATURES": " ".join(self.disabled)} if self.disabled else {}
        tunables = {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={self.c_library}"} if self.c_library else {}
        return {"OPENBLAS_CORETYPE": self.kernel} | threads | without | tunables


SETTINGS = (
    Setting("SkylakeX", "avx512f", 1),
    Setting("SkylakeX", "avx512f", 2),
    Setting("Haswell", "avx2", 1, NO_AVX512),
    Setting("Zen", "avx2", 2),
    Setting("Prescott", "pni", 2, NO_AVX2, "-AVX512F,-AVX2,-FMA"),
)


def processor_flags() -> set[str]:
    """Return what the processor can do, in Linux's names; nothing on other systems and processors."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    return {flag for line in lines if line.startswith("flags") for flag in line.partition(":")[2].split()}


def passes(name: str, python: str | Path, variables: dict[str, str]) -> bool:
    """Run the tests; print what came of them in a line, and what failed."""
    command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider"]
    command += ["-m", "not network", *(f"tests/{path}" for path in SENSITIVE)]
    start = time.monotonic()
    done = subprocess.run(
        list(map(str, command)), cwd=ROOT, env=os.environ | variables, capture_output=True, text=True
    )
    result = (done.stdout.strip().splitlines() or ["nothing"])[-1]
    print(f"{name}: {result} ({time.monotonic() - start:.0f} s)", flush=True)
    if done.returncode:
        print(done.stdout + done.stderr, flush=True)
    return done.returncode == 0


def main() -> int:
    flags = processor_flags()
    results = []
    for setting in SETTINGS:
        if setting.needs in flags:
            results.append(passes(setting.name, sys.executable, setting.variables))
        else:
            print(f"{setting.name}: skipped: this processor lacks {setting.needs.upper()}", flush=True)
    if other := sys.argv[1:]:
        version = subprocess.run([other[0], "--version"], capture_output=True, text=True, check=True).stdout
        results.append(passes(version.strip(), Path(other[0]).absolute(), {}))
    else:
        print("Python 3.13: skipped: not on this machine", flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
