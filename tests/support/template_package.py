"""The folder that `make templates` writes, made once for all workers."""

import json
import os
from pathlib import Path

import pytest
from filelock import FileLock

from hyperpod_cdk import load_config
from hyperpod_cdk.helm.chart.chart import read_hyperpod_chart
from hyperpod_cli.deliver.templates.package import write_package
from rehearsal.chart_choice import STAND_IN
from tests.support.configs import CONFIG_FOLDER, REPOSITORY


def template_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the default configuration, which nobody may change."""
    own = tmp_path_factory.getbasetemp()
    # The workers of pytest-xdist have a folder each, beside each other.
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "template-package"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            written = folder.with_suffix(".part")
            write_default_package(written)
            written.rename(folder)
    return folder


def write_default_package(folder: Path) -> None:
    """Write the folder for the default configuration."""
    context = json.loads((REPOSITORY / "cdk.json").read_text("utf-8"))["context"]
    config = load_config(CONFIG_FOLDER / "default.yaml")
    write_package(config, chart=read_hyperpod_chart(STAND_IN), target=folder, context=context)
