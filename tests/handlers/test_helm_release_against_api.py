"""``Custom::HelmRelease``: the whole handler, the real helm, the rehearsal's Kubernetes API."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from provisioner import handler
from provisioner.errors import ProvisioningError
from rehearsal.kubernetes_api import KubernetesApi, Principal, static_tokens, unreachable
from rehearsal.layer_binaries import layer_binaries
from tests.handlers.cloudformation import OTHER_STACK_ID
from tests.handlers.fake_s3 import zipped
from tests.handlers.helm_cloud import (
    DENIED,
    TOKEN,
    Cloud,
    chart_files,
    delay_writes,
    helm_by_hand,
    kill_helm_in,
    packaged,
    properties,
    status_of,
)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cloud]:
    (tmp_path / "layer" / "helm").mkdir(parents=True)
    (tmp_path / "layer" / "helm" / "helm").symlink_to(layer_binaries().helm)
    monkeypatch.setenv("_LAMBDA_LAYERS_DIRS", str(tmp_path / "layer"))
    admin = Principal(username="provisioner", allowed=True)
    with KubernetesApi(authenticate=static_tokens({TOKEN: admin})) as api:
        made = Cloud(api=api)
        for version in ("1.0.0", "2.0.0"):
            made.s3.add("assets", f"{version}.tgz", packaged(version))
        made.s3.add("assets", "folder.zip", zipped(chart_files("1.0.0")))
        monkeypatch.setattr(handler, "CLIENTS", made)
        yield made


def test_install_change_nothing_upgrade_uninstall(cloud: Cloud) -> None:
    created = cloud.send("Create", properties(replicas=2))
    assert created["Data"] == {
        "Release": "deps",
        "Namespace": "training",
        "Chart": "deps-1.0.0",
        "Status": "deployed",
        "Revision": "1",
    }
    assert cloud.operator() == "1.0.0 x2"
    assert cloud.send("Create", properties(replicas=2), again=True)["Data"]["Revision"] == "1"
    assert cloud.send("Update", properties(replicas=2))["Data"]["Revision"] == "1"
    assert cloud.send("Update", properties("2.0.0", replicas=3))["Data"]["Revision"] == "2"
    assert cloud.operator() == "2.0.0 x3"
    assert cloud.send("Delete", properties("2.0.0", replicas=3)) == {"IsComplete": True}
    assert cloud.operator() is None
    assert cloud.api.objects("v1", "Secret", "training") == []
    assert cloud.send("Delete", properties("2.0.0")) == {"IsComplete": True}


def test_zipped_chart_folder(cloud: Cloud) -> None:
    assert cloud.send("Create", properties(key="folder.zip"))["Data"]["Chart"] == "deps-1.0.0"


def test_release_carries_its_owner_through_failure_and_rollback(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.inject(DENIED)
    with pytest.raises(ProvisioningError, match="denied by the quota") as failed:
        cloud.send("Update", properties("2.0.0"))
    assert len(str(failed.value)) < 1000
    assert status_of(cloud) == "failed"
    assert cloud.operator() == "1.0.0 x1"
    cloud.api.clear_faults()
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


def test_failed_install_is_reported_and_can_be_deleted(cloud: Cloud) -> None:
    cloud.api.inject(DENIED)
    with pytest.raises(ProvisioningError, match="denied by the quota"):
        cloud.send("Create", properties())
    cloud.api.clear_faults()
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_failed_install_is_mended_by_the_next_request(cloud: Cloud) -> None:
    cloud.api.inject(DENIED)
    with pytest.raises(ProvisioningError):
        cloud.send("Create", properties())
    cloud.api.clear_faults()
    assert cloud.send("Create", properties(replicas=2))["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x2"


def test_chart_that_does_not_render_is_reported_and_can_be_deleted(cloud: Cloud) -> None:
    with pytest.raises(ProvisioningError, match="no such"):
        cloud.send("Create", properties(broken=True))
    assert cloud.send("Delete", properties(broken=True)) == {"IsComplete": True}


def test_release_of_another_stack_is_refused(cloud: Cloud) -> None:
    cloud.send("Create", properties(), stack_id=OTHER_STACK_ID)
    with pytest.raises(ProvisioningError, match="of the stack other"):
        cloud.send("Create", properties())
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.operator() == "1.0.0 x1"


def test_release_installed_by_hand_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    cloud.send("Create", properties())
    for secret in cloud.api.objects("v1", "Secret", "training"):
        assert secret["metadata"]["labels"]["hyperpod-cdk/stack"] == "ml-hyperpod"
    helm_by_hand(cloud, tmp_path, "uninstall", "deps")
    (tmp_path / "chart.tgz").write_bytes(packaged("1.0.0"))
    helm_by_hand(cloud, tmp_path, "install", "deps", str(tmp_path / "chart.tgz"))
    with pytest.raises(ProvisioningError, match="somebody else"):
        cloud.send("Update", properties("2.0.0"))


def test_upgrade_by_hand_is_taken_back(cloud: Cloud, tmp_path: Path) -> None:
    cloud.send("Create", properties())
    (tmp_path / "chart.tgz").write_bytes(packaged("2.0.0"))
    helm_by_hand(cloud, tmp_path, "upgrade", "deps", str(tmp_path / "chart.tgz"))
    assert cloud.operator() == "2.0.0 x1"
    assert cloud.send("Update", properties())["Data"]["Revision"] == "3"
    assert cloud.operator() == "1.0.0 x1"


def test_helm_killed_in_an_install_is_recovered(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_helm_in(cloud, monkeypatch, "Create", properties())
    assert status_of(cloud) == "pending-install"
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x1"


def test_helm_killed_in_an_install_can_be_deleted(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_helm_in(cloud, monkeypatch, "Create", properties())
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.api.objects("v1", "Secret", "training") == []


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
def test_helm_killed_in_an_upgrade_is_recovered(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    cloud.send("Create", properties())
    kill_helm_in(cloud, monkeypatch, "Update", properties("2.0.0"))
    assert status_of(cloud) == "pending-upgrade"
    assert cloud.send("Update", properties(version))["Data"]["Status"] == "deployed"
    assert cloud.operator() == f"{version} x1"


def test_helm_out_of_time_records_a_failure(cloud: Cloud) -> None:
    delay_writes(cloud)
    cloud.context.seconds = 22  # of which 20 are kept back
    with pytest.raises(ProvisioningError, match="did not end within 2 s"):
        cloud.send("Create", properties())
    assert status_of(cloud) == "failed"
    cloud.api.clear_faults()
    cloud.context.seconds = 300
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"


def test_unreachable_api_fails_without_leaving_anything(cloud: Cloud) -> None:
    cloud.api.inject(unreachable())
    cloud.context.seconds = 21
    with pytest.raises(ProvisioningError, match="access entry"):
        cloud.send("Create", properties())
    cloud.api.clear_faults()
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_cluster_gone_means_release_gone(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.exists = False
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


def test_nothing_is_left_in_the_function(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    cloud.send("Create", properties())
    assert list(temporary.iterdir()) == []
