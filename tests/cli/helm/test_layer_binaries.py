"""The binaries of the CDK kubectl layer."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hyperpod_cli.helm.layer_binaries import layer_binaries


def test_the_binaries_run() -> None:
    binaries = layer_binaries()
    helm = subprocess.run(
        [binaries.helm, "version", "--short"], capture_output=True, text=True, check=True
    )
    kubectl = subprocess.run(
        [binaries.kubectl, "version", "--client", "-o", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert helm.stdout.startswith("v4.")
    assert json.loads(kubectl.stdout)["clientVersion"]["gitVersion"].startswith("v1.34.")


def test_extracting_at_the_same_time_leaves_one_complete_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: layer_binaries(cache=tmp_path), range(2))
    assert first == second
    assert [path.name for path in tmp_path.iterdir()] == [first.helm.parent.name]
    assert {path.name for path in first.helm.parent.iterdir()} == {"helm", "kubectl"}
    assert os.access(first.helm, os.X_OK)
    assert os.access(first.kubectl, os.X_OK)


def test_a_second_call_does_not_extract_again(tmp_path: Path) -> None:
    folder = tmp_path / layer_binaries().helm.parent.name
    folder.mkdir()
    (folder / "helm").write_text("kept")
    assert layer_binaries(cache=tmp_path).helm.read_text() == "kept"
