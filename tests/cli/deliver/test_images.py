"""`hyperpod-cdk images`: the list, the check of closed networks, and mirroring."""

import base64
import subprocess
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.stub import Stubber

from hyperpod_cdk import load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.helm.images import image_of_chart, mirrored
from hyperpod_cli.deliver.images import Image, commands, digest, listed_images, mirror
from hyperpod_cli.terminal.errors import OpsError
from tests.conftest import Raises
from tests.support.assembly import merged
from tests.support.commands import ran, run
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.played import stubbed

CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
EXAMPLE = CONFIG_FOLDER / "examples" / "closed-network.yaml"
HOST = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
DIGEST = "sha256:" + "0" * 64
MPI = Image(
    original="mpioperator/mpi-operator:0.5",
    used=f"{HOST}/hyperpod/mpioperator/mpi-operator:0.5",
    mirror=f"{HOST}/hyperpod/mpioperator/mpi-operator:0.5",
    is_from_outside=False,
)
REPOSITORY_NAME = "hyperpod/mpioperator/mpi-operator"


def configuration(folder: Path, **helm: Any) -> Path:
    """Write the example with the stand-in chart and other keys of `helm`."""
    document = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    document["helm"] |= {"chart": str(CHART), **helm}
    document["helm"] = {key: value for key, value in document["helm"].items() if value is not None}
    file = folder / "closed.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


def test_it_lists_images_and_addons(tmp_path: Path) -> None:
    code, printed, _ = ran("images", "--config", configuration(tmp_path))
    assert code == 0
    assert f"rehearsal.invalid/mpi-operator:stand-in\n  deployed as {HOST}/hyperpod/" in printed
    assert "from outside" not in printed
    assert "vpc-cni v1." in printed


_IN_GRAFANA = {"observability": {"prometheus": {}, "grafana": {"kind": "in_cluster"}}}
_WITH_DIRECTORY = {"storage": {"claims": [{"namespace": "team-a", "directory": "/team-a"}]}}


@pytest.mark.parametrize(
    ("chart", "changes"), [("grafana", _IN_GRAFANA), ("fsx-storage", _WITH_DIRECTORY)]
)
def test_images_of_own_charts_are_listed_and_copied_by_their_digest(
    tmp_path: Path, chart: str, changes: dict[str, Any]
) -> None:
    file = configuration(tmp_path)
    document = merged(yaml.safe_load(file.read_text("utf-8")), changes)
    file.write_text(yaml.safe_dump(document), "utf-8")
    image = image_of_chart(chart)
    copy = mirrored(image, registry=document["helm"]["image_registry"])

    listed = ran("images", "--config", file).out.splitlines()
    assert {image, f"  deployed as {copy}"} <= {*listed}
    commands = ran("images", "--config", file, "--mirror", "--dry-run").out
    assert f"crane copy {image} {copy}" in commands


def test_the_image_of_a_health_check_is_refused_by_its_own_key(tmp_path: Path) -> None:
    file = configuration(tmp_path)
    script = tmp_path / "check.py"
    script.write_text("#!/bin/sh\n")
    document = yaml.safe_load(file.read_text("utf-8"))
    document["node_health"] = {"script": str(script)}
    file.write_text(yaml.safe_dump(document), "utf-8")

    said = ran("images", "--config", file, "--check")
    assert said.code == 2
    assert f"node_health.image: {image_of_chart('node-health')} comes from outside" in said.err


def test_a_closed_network_without_a_registry_is_refused(tmp_path: Path) -> None:
    said = ran("images", "--config", configuration(tmp_path, image_registry=None), "--check")

    lines = said.err.splitlines()
    assert (said.code, len(lines)) == (2, 4)
    assert all("comes from outside" in line for line in lines)


@pytest.mark.parametrize("values", [{}, {"mpi-operator": {"mpiOperator": {"image": {"tag": "1"}}}}])
def test_what_is_mirrored_passes(tmp_path: Path, values: dict[str, Any]) -> None:
    assert run("images", "--config", configuration(tmp_path, values=values), "--check") == 0


def test_an_image_of_helm_values_from_outside_is_refused(tmp_path: Path) -> None:
    values = {"mpi-operator": {"mpiOperator": {"image": {"repository": "quay.io/a/b"}}}}

    said = ran("images", "--config", configuration(tmp_path, values=values), "--check")
    assert (said.code, "quay.io/a/b:stand-in " in said.err) == (2, True)


def test_an_open_network_is_not_checked() -> None:
    assert run("images", "--config", CONFIG_FOLDER / "default.yaml", "--check") == 0


def test_nothing_is_mirrored_without_a_registry(tmp_path: Path) -> None:
    said = ran("images", "--config", configuration(tmp_path, image_registry=None), "--mirror")
    assert (said.code, "names no registry" in said.err) == (2, True)


def test_a_dry_run_prints_commands(tmp_path: Path) -> None:
    said = ran("images", "--config", configuration(tmp_path), "--mirror", "--dry-run")

    login, *others = said.out.splitlines()
    assert said.code == 0
    assert login.startswith("aws ecr get-login-password --region us-west-2 | crane auth login ")
    assert len(others) == 2 * 4
    assert all("--image-tag-mutability IMMUTABLE" in line for line in others[::2])
    assert all(line.startswith("crane copy rehearsal.invalid/") for line in others[1::2])


def test_another_registry_gets_no_repositories() -> None:
    image = Image(original="a/b:1", used="r.com/a/b:1", mirror="r.com/a/b:1", is_from_outside=False)

    assert list(commands([image])) == ["crane copy a/b:1 r.com/a/b:1"]


def test_an_image_of_the_region_needs_no_mirror() -> None:
    config = load_config(EXAMPLE)
    found = listed_images(config, chart=read_hyperpod_chart(CHART), region="us-west-2")

    assert [image.original for image in found if image.mirror is None] == [
        "000000000000.dkr.ecr.us-west-2.amazonaws.com/health-monitoring-agent:stand-in"
    ]


class Crane:
    """What crane was called with; it says of every image that it has `DIGEST`."""

    def __init__(self, *, code: int = 0) -> None:
        self.calls: list[list[str]] = []
        self.code = code

    def __call__(self, arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.calls.append([*arguments[1:], *([options["input"]] if options["input"] else [])])
        return subprocess.CompletedProcess(
            arguments, self.code, stdout=f"{DIGEST}\n", stderr="not\nfound"
        )


@pytest.fixture
def ecr(monkeypatch: pytest.MonkeyPatch) -> Stubber:
    """ECR, which lets in; and a crane on PATH."""
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    stub = stubbed("ecr")
    token = base64.b64encode(b"AWS:secret").decode()
    stub.add_response(
        "get_authorization_token", {"authorizationData": [{"authorizationToken": token}]}
    )
    return stub


def mirror_with(ecr: Stubber, crane: Crane) -> list[str]:
    said: list[str] = []
    with ecr, pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", crane)
        patch.setattr(boto3, "client", lambda *_, **__: ecr.client)
        mirror([MPI], report=said.append)
    ecr.assert_no_pending_responses()
    return said


LOGIN = ["auth", "login", HOST, "--username", "AWS", "--password-stdin", "secret"]
COPY = ["copy", MPI.original, MPI.mirror]
THERE = {"repositoryName": REPOSITORY_NAME, "imageIds": [{"imageTag": "0.5"}]}


def test_a_repository_is_made_with_scans_and_immutable_tags(ecr: Stubber) -> None:
    ecr.add_client_error("describe_images", "RepositoryNotFoundException", expected_params=THERE)
    ecr.add_response(
        "create_repository",
        {},
        {
            "repositoryName": REPOSITORY_NAME,
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
        },
    )
    crane = Crane()

    assert mirror_with(ecr, crane) == [f"copied {MPI.original} to {MPI.mirror}"]
    assert crane.calls == [LOGIN, COPY]


def test_a_new_tag_is_copied_into_a_repository_that_is_there(ecr: Stubber) -> None:
    ecr.add_client_error("describe_images", "ImageNotFoundException", expected_params=THERE)
    crane = Crane()

    mirror_with(ecr, crane)
    assert crane.calls == [LOGIN, COPY]


def test_a_copy_that_is_there_is_left(ecr: Stubber) -> None:
    ecr.add_response("describe_images", {"imageDetails": [{"imageDigest": DIGEST}]}, THERE)
    crane = Crane()

    assert mirror_with(ecr, crane) == [f"is there: {MPI.mirror}"]
    assert COPY not in crane.calls


def test_another_image_of_the_tag_is_not_overwritten(ecr: Stubber, raises: Raises) -> None:
    other = {"imageDetails": [{"imageDigest": "sha256:other"}]}
    ecr.add_response("describe_images", other, THERE)

    with raises(OpsError):
        mirror_with(ecr, Crane())


def test_what_crane_says_is_one_line(ecr: Stubber, raises: Raises) -> None:
    with raises(OpsError):
        mirror_with(ecr, Crane(code=1))


def test_without_crane_the_way_on_is_told(monkeypatch: pytest.MonkeyPatch, raises: Raises) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)

    with raises(OpsError):
        digest("a/b:1")
