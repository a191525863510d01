"""Releases that the cluster cannot take, or whose objects others own, with the real helm."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_rehearsal.scenarios.destructions import METRICS
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.operation import CLOCK_SKEW_SECONDS
from provisioner.helm import preparation as helm_preparation
from tests.conftest import Raises
from tests.support.provisioner.helm_accidents import helm_by_hand
from tests.support.provisioner.helm_charts import definition, packaged
from tests.support.provisioner.helm_cloud import DENIED, Cloud, namespace, properties

HOLD = "example.com/hold"
ADOPTING = {"AdoptNamespaces": json.dumps(["kubeflow", "aws-hyperpod"])}
SERVICE_ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "agent", "namespace": "kubeflow"},
}


def _hold(cloud: Cloud, name: str) -> None:
    cloud.api.create(namespace(name, HOLD))
    cloud.api.delete("v1", "Namespace", name)


def _let_go(cloud: Cloud, name: str) -> None:
    cloud.api.merge("v1", "Namespace", name, {"metadata": {"finalizers": None}})


@pytest.mark.parametrize("name", ["kubeflow", "training"])
def test_terminating_namespace_is_waited_for(cloud: Cloud, name: str) -> None:
    _hold(cloud, name)
    _hold(cloud, "elsewhere")  # and stays
    accepted = cloud.start("Create", properties())
    assert cloud.poll(accepted) == {"IsComplete": False}
    assert cloud.api.objects("v1", "Secret", "training") == []  # no revision for each attempt
    _let_go(cloud, name)
    assert cloud.poll(accepted) == {"IsComplete": False}
    assert cloud.poll(accepted)["Data"]["Revision"] == "1"
    assert cloud.operator() == "1.0.0 x1"


def test_a_cancelled_update_that_waits_for_a_namespace_is_not_carried_out(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.install(properties())
    cloud.api.delete("v1", "Namespace", "kubeflow")
    _hold(cloud, "kubeflow")
    cloud.cloudformation.status = "UPDATE_IN_PROGRESS"
    accepted = cloud.start("Update", properties("2.0.0"))
    cloud.cloudformation.now = lambda: time.time() + 2 * CLOCK_SKEW_SECONDS
    cloud.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    _let_go(cloud, "kubeflow")
    with raises(ProvisioningError):
        cloud.poll(accepted)
    assert "2.0.0" not in str(cloud.operator())


def test_namespace_that_stays_terminating_is_named(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    _hold(cloud, "kubeflow")
    accepted = cloud.start("Create", properties())
    monkeypatch.setattr(helm_preparation, "DELETION_PATIENCE_SECONDS", 0)
    with raises(ProvisioningError):
        cloud.poll(accepted)


def test_namespace_that_waits_for_an_api_without_nodes_alone_is_let_go(cloud: Cloud) -> None:
    cloud.install(properties())
    cloud.api.create(METRICS)
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert "kubeflow" in cloud.names("v1", "Namespace")
    assert cloud.send("Create", properties())["Data"]["Revision"] == "1"
    assert cloud.operator() == "1.0.0 x1"


def test_namespace_that_waits_for_its_content_too_is_not_let_go(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    cloud.api.create(METRICS)
    cloud.api.create(namespace("kubeflow"))
    held = {"name": "held", "namespace": "kubeflow", "finalizers": [HOLD]}
    cloud.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": held})
    cloud.api.delete("v1", "Namespace", "kubeflow")
    monkeypatch.setattr(helm_preparation, "DELETION_PATIENCE_SECONDS", 0)
    with raises(ProvisioningError):
        cloud.send("Create", properties())
    assert cloud.names("v1", "ConfigMap", "kubeflow") == ["held"]


def test_release_too_large_for_its_secret_says_what_to_do(cloud: Cloud, raises: Raises) -> None:
    noise = random.Random(1).randbytes(1_300_000).hex()  # noqa: S311 - no secret
    cloud.add_chart("3.0.0", {"templates/_noise.tpl": noise})
    cloud.install(properties())
    with raises(ProvisioningError) as failed:
        cloud.send("Update", properties("3.0.0"))
    assert len(str(failed.value)) < 1000
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.send("Update", properties())["Data"]["Revision"] == "1"


def _object(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(text)
    return parsed


def test_listed_namespaces_and_definitions_are_taken_over(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1", "v2")})
    cloud.api.create(_object(definition("mpijobs", "MPIJob", "v1")))
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(SERVICE_ACCOUNT)
    uid = cloud.uid("v1", "Namespace", "kubeflow")
    assert cloud.send("Create", properties("3.0.0", more=ADOPTING))["Data"]["Status"] == "deployed"
    assert cloud.uid("v1", "Namespace", "kubeflow") == uid
    assert "agent" in cloud.names("v1", "ServiceAccount", "kubeflow")
    taken = _live(cloud, "mpijobs.example.com")
    assert [version["name"] for version in taken["spec"]["versions"]] == ["v1", "v2"]
    assert taken["metadata"]["annotations"]["meta.helm.sh/release-name"] == "deps"


def test_other_namespace_is_refused_and_left_alone(cloud: Cloud, raises: Raises) -> None:
    cloud.api.create(namespace("kubeflow"))
    with raises(ProvisioningError):
        cloud.send("Create", properties(more={"AdoptNamespaces": '["aws-hyperpod"]'}))
    assert cloud.operator() is None
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert "kubeflow" in cloud.names("v1", "Namespace")


def test_one_object_of_others_keeps_everything_from_being_taken_over(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.add_chart("3.0.0", {"templates/agent.yaml": yaml.safe_dump(SERVICE_ACCOUNT)})
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(SERVICE_ACCOUNT)
    with raises(ProvisioningError) as refused:
        cloud.send("Create", properties("3.0.0", more=ADOPTING))
    assert "Namespace kubeflow" not in str(refused.value)
    (agent,) = [
        item
        for item in cloud.api.objects("v1", "ServiceAccount", "kubeflow")
        if item["metadata"]["name"] == "agent"
    ]
    assert "annotations" not in agent["metadata"]


def test_namespace_of_another_release_is_refused_by_its_name(
    cloud: Cloud, tmp_path: Path, raises: Raises
) -> None:
    cloud.api.create(namespace("training"))
    (tmp_path / "chart.tgz").write_bytes(packaged("1.0.0"))
    helm_by_hand(cloud, tmp_path, "install", "first", str(tmp_path / "chart.tgz"))
    with raises(ProvisioningError):
        cloud.send("Create", properties(more=ADOPTING))


def test_a_namespace_that_stays_changes_hands(cloud: Cloud, tmp_path: Path) -> None:
    kept = namespace("kubeflow")
    kept["metadata"]["annotations"] = {"helm.sh/resource-policy": "keep"}
    alone = dict.fromkeys(("templates/operator.yaml", "templates/refused.yaml", "crds/job.yaml"))
    made = packaged("1.0.0", {**alone, "templates/namespace.yaml": yaml.safe_dump(kept)})
    (tmp_path / "chart.tgz").write_bytes(made)
    cloud.api.create(namespace("training"))
    helm_by_hand(cloud, tmp_path, "install", "first", str(tmp_path / "chart.tgz"))
    uid = cloud.uid("v1", "Namespace", "kubeflow")

    assert cloud.send("Create", properties(more=ADOPTING))["Data"]["Status"] == "deployed"

    assert cloud.uid("v1", "Namespace", "kubeflow") == uid
    (live,) = [
        item
        for item in cloud.api.objects("v1", "Namespace", None)
        if item["metadata"]["name"] == "kubeflow"
    ]
    assert live["metadata"]["annotations"]["meta.helm.sh/release-name"] == "deps"


def test_upgrade_takes_over_as_well(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/b.yaml": yaml.safe_dump(namespace("aws-hyperpod"))})
    cloud.install(properties(more=ADOPTING))
    cloud.api.create(namespace("aws-hyperpod"))
    assert cloud.send("Update", properties("3.0.0", more=ADOPTING))["Data"]["Revision"] == "2"


DEFINITIONS = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NOTEBOOKS = "notebooks.example.com"


def _chart(cloud: Cloud, version: str, *crds: str, **templates: str) -> None:
    """Add a chart with these definitions in crds/, and others in templates/."""
    files = {f"crds/{number}.yaml": text for number, text in enumerate(crds)}
    more = {f"templates/{name}.yaml": text for name, text in templates.items()}
    cloud.add_chart(version, {"crds/job.yaml": None, **files, **more})


def _live(cloud: Cloud, name: str = NOTEBOOKS) -> dict[str, Any]:
    found = {item["metadata"]["name"]: item for item in cloud.api.objects(*DEFINITIONS)}
    return found[name]


def _versions(cloud: Cloud, name: str = NOTEBOOKS) -> list[str]:
    return [version["name"] for version in _live(cloud, name)["spec"]["versions"]]


@pytest.mark.slow(seconds=5)
def test_upgrade_writes_the_definitions_that_say_something_else(cloud: Cloud) -> None:
    same = definition("same", "Same", "v1", note="same")
    long = definition("longs", "Long", "v1", note="old")
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1"), same, long)
    new = (
        definition("notebooks", "Notebook", "v1", "v2") + "---" + definition("tunes", "Tune", "v1")
    )
    short = long.replace('description: "old",', "")
    _chart(cloud, "2.0.0", new, f"# Another comment\n{same}", short)
    cloud.install(properties("1.0.0"))
    assert _versions(cloud) == ["v1"]
    uid, kept = _live(cloud)["metadata"]["uid"], _live(cloud, "same.example.com")["metadata"]
    cloud.send("Update", properties("2.0.0"))
    assert _versions(cloud) == ["v1", "v2"]
    assert _live(cloud)["metadata"]["uid"] == uid
    assert _versions(cloud, "tunes.example.com") == ["v1"]
    unchanged = _live(cloud, "same.example.com")["metadata"]
    assert unchanged["resourceVersion"] == kept["resourceVersion"]
    (version,) = _live(cloud, "longs.example.com")["spec"]["versions"]
    assert "description" not in version["schema"]["openAPIV3Schema"]
    cloud.send("Delete", properties("2.0.0"))
    assert _versions(cloud) == ["v1", "v2"]  # they outlive the release


@pytest.mark.slow(seconds=5)
def test_install_changes_definitions_that_somebody_left(cloud: Cloud) -> None:
    cloud.api.create(yaml.safe_load(definition("notebooks", "Notebook", "v1")))
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1", "v2"))
    cloud.send("Create", properties("1.0.0"))
    assert _versions(cloud) == ["v1", "v2"]


@pytest.mark.slow(seconds=5)
def test_stored_version_is_never_lost(cloud: Cloud, raises: Raises) -> None:
    old, new = (definition("notebooks", "Notebook", version) for version in ("v1", "v2"))
    older, newer = (definition("tunes", "Tune", version) for version in ("v1", "v2"))
    _chart(cloud, "1.0.0", old, tune=older)
    _chart(cloud, "2.0.0", new, tune=older)
    _chart(cloud, "3.0.0", old, tune=newer)
    cloud.install(properties("1.0.0"))
    for version, name in (("2.0.0", NOTEBOOKS), ("3.0.0", "tunes.example.com")):
        with raises(ProvisioningError):
            cloud.send("Update", properties(version))
        assert _versions(cloud, name) == ["v1"]
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.send("Update", properties("1.0.0"))["Data"]["Revision"] == "1"


@pytest.mark.slow(seconds=5)
def test_way_back_from_a_failed_upgrade_keeps_the_newer_definition(cloud: Cloud) -> None:
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1"))
    _chart(cloud, "2.0.0", definition("notebooks", "Notebook", "v1", "v2"))
    cloud.install(properties("1.0.0"))
    cloud.api.inject(DENIED)
    with pytest.raises(ProvisioningError):
        cloud.send("Update", properties("2.0.0"))
    cloud.api.clear_faults()
    assert cloud.send("Update", properties("1.0.0"))["Data"]["Status"] == "deployed"
    assert _versions(cloud) == ["v1", "v2"]
    assert cloud.operator() == "1.0.0 x1"


@pytest.mark.slow(seconds=5)
def test_subchart_that_is_off_brings_no_definitions(cloud: Cloud) -> None:
    sub = {
        "Chart.yaml": "apiVersion: v2\nname: deps\nversion: 3.0.0\ndependencies:\n"
        "  - {name: sub, version: 1.0.0, condition: sub.enabled}\n",
        "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "charts/sub/crds/n.yaml": definition("notebooks", "Notebook", "v1"),
    }
    cloud.add_chart("3.0.0", sub)
    cloud.install(properties())
    cloud.send("Update", properties("3.0.0", sub={"enabled": False}))
    assert NOTEBOOKS not in cloud.names(*DEFINITIONS)
    cloud.send("Update", properties("3.0.0", sub={"enabled": True}))
    assert NOTEBOOKS in cloud.names(*DEFINITIONS)
