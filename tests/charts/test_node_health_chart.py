"""What the chart node-health renders with the real helm, and the values it refuses."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.chart_rendering import assert_valid_for_kubernetes, objects, refusal
from tests.support.configs import CONFIG_FOLDER
from tests.support.node_health import CHART, GPU, SCRIPT

VALUES: dict[str, Any] = {"script": SCRIPT, "instanceTypes": [GPU]}


def render(directory: Path, **values: Any) -> list[dict[str, Any]]:
    return objects(CHART, values={**VALUES, **values}, home=directory, release="health")


def of_kind(kind: str, made: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [item for item in made if item["kind"] == kind]
    return found


def test_objects_are_valid_for_kubernetes(tmp_path: Path) -> None:
    made = render(tmp_path, hostPaths=["/var/log", "/opt/x"], runAsRoot=True)
    assert_valid_for_kubernetes(made, folder=tmp_path)


def test_the_kubelet_runs_the_script_without_any_right(tmp_path: Path) -> None:
    values = {"intervalSeconds": 20, "timeoutSeconds": 7, "hostPaths": ["/var/log"]}
    pod = of_kind("DaemonSet", render(tmp_path, **values))["spec"]["template"]["spec"]
    (check,) = pod["containers"]
    assert check["readinessProbe"] == {
        "exec": {"command": ["/check/check"]},
        "periodSeconds": 20,
        "timeoutSeconds": 7,
        "failureThreshold": 1,
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert check["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert all(mount.get("readOnly") or mount["name"] == "tmp" for mount in check["volumeMounts"])
    assert pod["volumes"][-1]["hostPath"] == {"path": "/var/log", "type": "Directory"}


def test_the_controller_reads_pods_and_changes_nodes_and_its_own_marks(tmp_path: Path) -> None:
    made = render(tmp_path)
    (nodes,) = of_kind("ClusterRole", made)["rules"]
    assert (nodes["resources"], nodes["verbs"]) == (["nodes"], ["list", "patch"])
    pods, marks = of_kind("Role", made)["rules"]
    assert (pods["resources"], pods["verbs"]) == (["pods"], ["list"])
    assert (marks["resourceNames"], marks["verbs"]) == (["health-marks"], ["get", "update"])
    deployment = of_kind("Deployment", made)["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    maps = {item["metadata"]["name"]: item for item in made if item["kind"] == "ConfigMap"}
    code = (CHART / "files" / "controller.py").read_text("utf-8")
    assert maps["health-controller"]["data"] == {"controller.py": code}
    assert maps["health-check"]["data"] == {"check": SCRIPT}
    assert "data" not in maps["health-marks"]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"script": "exit 0"}, "script"),
        ({"script": None}, "script"),
        ({"instanceTypes": []}, "instanceTypes"),
        ({"instanceTypes": ["p5.48xlarge"]}, "instanceTypes"),
        ({"action": "delete"}, "action"),
        ({"maxAtOnce": 0}, "maxAtOnce"),
        ({"maxAtOnce": 26}, "maxAtOnce"),
        ({"hostPaths": ["var/log"]}, "hostPaths"),
        ({"image": "python:3.13"}, "image"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_refused_values(tmp_path: Path, values: dict[str, Any], told: str) -> None:
    assert told in refusal(CHART, values={**VALUES, **values}, home=tmp_path)


EXAMPLE = CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh"


def test_the_example_is_a_check_that_shellcheck_takes(tmp_path: Path) -> None:
    render(tmp_path, script=EXAMPLE.read_text("utf-8"))
    found = subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), EXAMPLE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.parametrize(("gpus", "code", "told"), [(8, 0, ""), (7, 1, "7 of 8 GPUs are on the ")])
def test_the_example_counts_gpus(tmp_path: Path, gpus: int, code: int, told: str) -> None:
    classes = ["0x030200"] * gpus + ["0x068000"] * 4
    for index, number in enumerate(classes):
        device = tmp_path / f"0000:{index:02}:00.0"
        device.mkdir()
        (device / "vendor").write_text("0x10de\n")
        (device / "class").write_text(f"{number}\n")
    done = subprocess.run(
        ["sh", EXAMPLE],
        env={"PCI_DEVICES": str(tmp_path), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.startswith(told)) == (code, True)
