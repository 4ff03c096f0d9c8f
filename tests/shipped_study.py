"""Studies that ship, with their results in a folder of a test and the checkout's vectors."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT
from in_process import make_inputs

from biasgrid.core.configs import read_yaml
from biasgrid.models.sources import fetch
from biasgrid.study.config import overlay
from biasgrid.study.study import Study


def joined(*configs: str | dict) -> Study:
    """The study of a shipped config and what changes it: names of shipped files, or mappings."""
    records = [
        (f"config/{config}.yaml", read_yaml(ROOT / "config" / f"{config}.yaml"))
        if isinstance(config, str)
        else ("changes", config)
        for config in configs
    ]
    return Study.of(overlay.join(records, root=ROOT), root=ROOT)


def shipped(name: str, folder: Path, *models: str, **changes: object) -> Study:
    """The study of config/<name>.yaml with these keys, whose models are fetched and made."""
    config = read_yaml(ROOT / "config" / f"{name}.yaml") | changes
    config |= {key: [str(ROOT / path) for path in config.get(key, [])] for key in ("published", "computed")}
    config |= {"results": str(folder), "embeddings": str(ROOT / "data" / "embeddings")}
    study = Study.of(config, root=ROOT)
    for model in models:
        fetch(model, study.models[model]["source"], study.embeddings / "raw", progress=False)
    make_inputs(study, *models)
    return study
