"""`Custom::HelmRelease`: the whole handler, the real helm, the rehearsal's Kubernetes API."""

from pathlib import Path

import pytest

from hyperpod_emulator.kubernetes import Fault, unreachable
from hyperpod_shared.errors import ProvisioningError
from provisioner.helm import client
from provisioner.kubernetes import kubectl
from tests.conftest import Raises
from tests.support.patience import PATIENCE_SECONDS, end_time_of
from tests.support.provisioner.cloudformation import OTHER_STACK_ID
from tests.support.provisioner.fake_s3 import zipped
from tests.support.provisioner.helm_accidents import delay, has_status, helm_by_hand
from tests.support.provisioner.helm_charts import chart_files, packaged
from tests.support.provisioner.helm_cloud import DENIED, Cloud, namespace, properties

POD_MONITOR = "apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: a}\n"
HOOK = """
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: training, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: example/c:1}]}}}
"""
SHOW_TEXT = """
apiVersion: v1
kind: ConfigMap
metadata: {name: shown, namespace: kubeflow}
data: {text: {{ .Values.text | quote }}}
"""
# Written after everything else that the chart has.
LATE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: kubeflow}\n"


def test_install_change_nothing_upgrade_uninstall(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    created = cloud.send("Create", properties(replicas=2))
    assert created["Data"] == {
        "Release": "deps",
        "Namespace": "training",
        "Chart": "deps-1.0.0",
        "Status": "deployed",
        "Revision": "1",
        "Ready": "not waited for",
    }
    assert cloud.operator() == "1.0.0 x2"
    for secret in cloud.api.objects("v1", "Secret", "training"):
        assert secret["metadata"]["labels"]["hyperpod-cdk/stack"] == "ml-hyperpod"
    assert cloud.send("Create", properties(replicas=2), again=True)["Data"]["Revision"] == "1"
    assert cloud.send("Update", properties(replicas=2))["Data"]["Revision"] == "1"
    # What is set by hand is set back.
    cloud.api.merge(
        "apps/v1", "Deployment", "operator", {"spec": {"replicas": 5}}, namespace="kubeflow"
    )
    assert cloud.send("Update", properties("2.0.0", replicas=2))["Data"]["Revision"] == "2"
    assert cloud.operator() == "2.0.0 x2"
    assert cloud.send("Delete", properties("2.0.0", replicas=2)) == {"IsComplete": True}
    assert cloud.operator() is None
    assert cloud.api.objects("v1", "Secret", "training") == []
    assert cloud.send("Delete", properties("2.0.0")) == {"IsComplete": True}
    assert list(temporary.iterdir()) == []  # in the function, either


def test_zipped_chart_folder_and_values_of_every_character(cloud: Cloud) -> None:
    files = chart_files("3.0.0", {"templates/text.yaml": SHOW_TEXT})
    cloud.s3.add("assets", "folder.zip", zipped(files))
    text = 'é 漢 \U0001f6f0 \t \u0085 " \\ #: {{'
    created = cloud.send("Create", properties(key="folder.zip", text=text))
    assert created["Data"]["Chart"] == "deps-3.0.0"
    (shown,) = cloud.api.objects("v1", "ConfigMap", "kubeflow")
    assert shown["data"]["text"] == text


def test_failed_upgrade_is_rolled_back_and_the_stack_too(cloud: Cloud, raises: Raises) -> None:
    cloud.add_chart("3.0.0", {"templates/z.yaml": POD_MONITOR})
    cloud.install(properties())
    with raises(ProvisioningError):
        cloud.send("Update", properties("3.0.0"))
    assert cloud.operator() == "1.0.0 x1"
    rolled_back = cloud.send("Update", properties())
    assert rolled_back["Data"]["Chart"] == "deps-1.0.0"
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


def test_half_done_upgrade_is_rolled_back_at_once(cloud: Cloud, raises: Raises) -> None:
    late = {"templates/late.yaml": LATE}
    cloud.add_chart("3.0.0", late)
    cloud.install(properties())
    cloud.api.inject(Fault(kind="ConfigMap", code=403, reason="Forbidden", message="no", times=1))
    with raises(ProvisioningError) as failed:
        cloud.send("Update", properties("3.0.0"))
    assert len(str(failed.value)) < 1000
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.status() == "deployed"
    assert cloud.names("v1", "ConfigMap", "kubeflow") == []
    revision = cloud.send("Update", properties())["Data"]["Revision"]
    assert revision == "3"  # the rollback's: nothing runs
    assert cloud.send("Update", properties("3.0.0"))["Data"]["Status"] == "deployed"


def test_rollback_that_fails_as_well_is_mended_by_the_next_request(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.install(properties())
    cloud.api.inject(DENIED)
    with raises(ProvisioningError):
        cloud.send("Update", properties("2.0.0"))
    assert cloud.status() == "failed"
    cloud.api.clear_faults()
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x1"


def _fail_to_install(cloud: Cloud) -> None:
    def install() -> None:
        cloud.api.inject(DENIED)
        with pytest.raises(ProvisioningError, match="denied by the quota") as failed:
            cloud.send("Create", properties())
        assert "None" not in str(failed.value)
        cloud.api.clear_faults()

    cloud.once("failed", install)


def test_failed_install_can_be_deleted(cloud: Cloud) -> None:
    _fail_to_install(cloud)
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_failed_install_is_mended_by_the_next_request(cloud: Cloud) -> None:
    _fail_to_install(cloud)
    assert cloud.send("Create", properties(replicas=2))["Data"]["Status"] == "deployed"
    assert cloud.operator() == "1.0.0 x2"


def test_chart_that_does_not_render_is_reported_and_can_be_deleted(
    cloud: Cloud, raises: Raises
) -> None:
    with raises(ProvisioningError):
        cloud.send("Create", properties(broken=True))
    assert cloud.send("Delete", properties(broken=True)) == {"IsComplete": True}


def test_release_of_another_stack_is_refused(cloud: Cloud, raises: Raises) -> None:
    cloud.send("Create", properties(), stack_id=OTHER_STACK_ID)
    with raises(ProvisioningError):
        cloud.send("Create", properties())
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.operator() == "1.0.0 x1"


def test_release_installed_by_hand_is_refused(cloud: Cloud, tmp_path: Path, raises: Raises) -> None:
    cloud.api.create(namespace("training"))
    (tmp_path / "chart.tgz").write_bytes(packaged("1.0.0"))
    helm_by_hand(cloud, tmp_path, "install", "deps", str(tmp_path / "chart.tgz"))
    with raises(ProvisioningError):
        cloud.send("Update", properties("2.0.0"))


def test_upgrade_by_hand_is_taken_back(cloud: Cloud, tmp_path: Path) -> None:
    cloud.install(properties())
    (tmp_path / "chart.tgz").write_bytes(packaged("2.0.0"))
    helm_by_hand(cloud, tmp_path, "upgrade", "deps", str(tmp_path / "chart.tgz"))
    assert cloud.operator() == "2.0.0 x1"
    assert cloud.send("Update", properties())["Data"]["Revision"] == "3"
    assert cloud.operator() == "1.0.0 x1"


def test_helm_out_of_time_records_a_failure(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    delay(cloud)
    monkeypatch.setattr(kubectl, "STOP_GRACE_SECONDS", PATIENCE_SECONDS)
    with monkeypatch.context() as patched:
        end_time_of("upgrade", patched, when=lambda: has_status(cloud, "pending"))
        with raises(ProvisioningError):
            cloud.send("Create", properties())
    assert cloud.status() == "failed"
    cloud.api.clear_faults()
    assert cloud.send("Update", properties())["Data"]["Status"] == "deployed"


def test_hook_that_never_ends_is_named(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    # Helm gets the shortest time for its hooks, and all the time that it needs to begin.
    monkeypatch.setattr(client, "_HELM_ENDS_EARLIER_SECONDS", PATIENCE_SECONDS)
    cloud.add_chart("3.0.0", {"templates/hook.yaml": HOOK})
    cloud.install(properties())
    with raises(ProvisioningError):
        cloud.send("Update", properties("3.0.0"))
    assert cloud.status() == "deployed"


def test_failed_uninstall_says_what_kubernetes_refused(cloud: Cloud, raises: Raises) -> None:
    cloud.install(properties())
    cloud.api.inject(
        Fault(kind="Deployment", verbs=frozenset({"delete"}), code=403, message="not now")
    )
    with raises(ProvisioningError):
        cloud.send("Delete", properties())
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


def test_unreachable_api_fails_without_leaving_anything(cloud: Cloud) -> None:
    cloud.api.inject(unreachable())
    cloud.context.seconds = 21
    assert cloud.start("Create", properties())["Deferred"]
    cloud.api.clear_faults()
    assert cloud.api.objects("v1", "Secret", "training") == []


def test_cluster_gone_means_release_gone(cloud: Cloud) -> None:
    cloud.install(properties())
    cloud.exists = False
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
