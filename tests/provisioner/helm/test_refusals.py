"""Releases that the cluster cannot take, or whose objects others own, with the real helm."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm import preparation as helm_preparation
from rehearsal.scenarios.destructions import METRICS
from tests.support.provisioner.helm_accidents import helm_by_hand
from tests.support.provisioner.helm_charts import definition, packaged
from tests.support.provisioner.helm_cloud import Cloud, namespace, properties

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
    accepted = cloud.start("Create", properties())
    assert cloud.poll(accepted) == {"IsComplete": False}
    assert cloud.api.objects("v1", "Secret", "training") == []  # no revision for each attempt
    _let_go(cloud, name)
    assert cloud.poll(accepted) == {"IsComplete": False}
    assert cloud.poll(accepted)["Data"]["Revision"] == "1"
    assert cloud.operator() == "1.0.0 x1"


def test_namespace_that_stays_terminating_is_named(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hold(cloud, "kubeflow")
    accepted = cloud.start("Create", properties())
    monkeypatch.setattr(helm_preparation, "DELETION_PATIENCE_SECONDS", 0)
    with pytest.raises(ProvisioningError, match="Namespace kubeflow, which the release") as failed:
        cloud.poll(accepted)
    assert "kubectl describe namespace kubeflow" in str(failed.value)


def test_other_namespaces_may_be_terminating(cloud: Cloud) -> None:
    _hold(cloud, "elsewhere")
    assert cloud.send("Create", properties())["Data"]["Status"] == "deployed"


def test_namespace_that_waits_for_an_api_without_nodes_alone_is_let_go(cloud: Cloud) -> None:
    cloud.api.create(METRICS)
    cloud.api.create(namespace("kubeflow"))
    cloud.api.delete("v1", "Namespace", "kubeflow")
    assert "kubeflow" in cloud.names("v1", "Namespace")
    assert cloud.send("Create", properties())["Data"]["Revision"] == "1"
    assert cloud.operator() == "1.0.0 x1"


def test_namespace_that_waits_for_its_content_too_is_not_let_go(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.api.create(METRICS)
    cloud.api.create(namespace("kubeflow"))
    held = {"name": "held", "namespace": "kubeflow", "finalizers": [HOLD]}
    cloud.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": held})
    cloud.api.delete("v1", "Namespace", "kubeflow")
    monkeypatch.setattr(helm_preparation, "DELETION_PATIENCE_SECONDS", 0)
    with pytest.raises(ProvisioningError) as failed:
        cloud.send("Create", properties())
    assert "Some resources are remaining" in str(failed.value)
    assert "metrics.k8s.io/v1beta1" in str(failed.value)
    assert cloud.names("v1", "ConfigMap", "kubeflow") == ["held"]


def test_release_is_deleted_beside_an_api_without_nodes(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.create(METRICS)
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert cloud.send("Create", properties())["Data"]["Revision"] == "1"


def test_release_too_large_for_its_secret_says_what_to_do(cloud: Cloud) -> None:
    noise = random.Random(1).randbytes(1_300_000).hex()  # noqa: S311 - no secret
    cloud.add_chart("3.0.0", {"templates/_noise.tpl": noise})
    with pytest.raises(ProvisioningError, match=r"Too long.*one Secret of at most 1 MiB") as failed:
        cloud.send("Create", properties("3.0.0"))
    assert len(str(failed.value)) < 1000
    assert cloud.send("Delete", properties("3.0.0")) == {"IsComplete": True}


def test_upgrade_too_large_leaves_the_release_serving(cloud: Cloud) -> None:
    noise = random.Random(1).randbytes(1_300_000).hex()  # noqa: S311 - no secret
    cloud.add_chart("3.0.0", {"templates/_noise.tpl": noise})
    cloud.send("Create", properties())
    with pytest.raises(ProvisioningError, match=r"Revision 1 still serves.*1 MiB"):
        cloud.send("Update", properties("3.0.0"))
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.send("Update", properties())["Data"]["Revision"] == "1"


def _object(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(text)
    return parsed


def test_listed_namespace_is_taken_over_with_what_is_in_it(cloud: Cloud) -> None:
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(SERVICE_ACCOUNT)
    uid = cloud.uid("v1", "Namespace", "kubeflow")
    assert cloud.send("Create", properties(more=ADOPTING))["Data"]["Status"] == "deployed"
    assert cloud.uid("v1", "Namespace", "kubeflow") == uid
    assert "agent" in cloud.names("v1", "ServiceAccount", "kubeflow")


def test_other_namespace_is_refused_and_left_alone(cloud: Cloud) -> None:
    cloud.api.create(namespace("kubeflow"))
    with pytest.raises(ProvisioningError, match=r"Namespace kubeflow .*made by") as refused:
        cloud.send("Create", properties(more={"AdoptNamespaces": '["aws-hyperpod"]'}))
    assert "helm.adopt_namespaces" in str(refused.value)
    assert cloud.operator() is None
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert "kubeflow" in cloud.names("v1", "Namespace")


def test_one_object_of_others_keeps_everything_from_being_taken_over(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/agent.yaml": yaml.safe_dump(SERVICE_ACCOUNT)})
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(SERVICE_ACCOUNT)
    with pytest.raises(ProvisioningError, match="ServiceAccount kubeflow/agent") as refused:
        cloud.send("Create", properties("3.0.0", more=ADOPTING))
    assert "Namespace kubeflow" not in str(refused.value)
    (agent,) = [
        item
        for item in cloud.api.objects("v1", "ServiceAccount", "kubeflow")
        if item["metadata"]["name"] == "agent"
    ]
    assert "annotations" not in agent["metadata"]


def test_namespace_of_another_release_is_refused_by_its_name(cloud: Cloud, tmp_path: Path) -> None:
    cloud.api.create(namespace("training"))
    (tmp_path / "chart.tgz").write_bytes(packaged("1.0.0"))
    helm_by_hand(cloud, tmp_path, "install", "first", str(tmp_path / "chart.tgz"))
    with pytest.raises(ProvisioningError, match="owned by the Helm release training/first"):
        cloud.send("Create", properties(more=ADOPTING))


def test_definition_among_the_templates_is_taken_over(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1", "v2")})
    cloud.api.create(_object(definition("mpijobs", "MPIJob", "v1")))
    assert cloud.send("Create", properties("3.0.0"))["Data"]["Status"] == "deployed"
    (taken,) = cloud.api.objects("apiextensions.k8s.io/v1", "CustomResourceDefinition")[1:]
    assert [version["name"] for version in taken["spec"]["versions"]] == ["v1", "v2"]
    assert taken["metadata"]["annotations"]["meta.helm.sh/release-name"] == "deps"


def test_upgrade_takes_over_as_well(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/b.yaml": yaml.safe_dump(namespace("aws-hyperpod"))})
    cloud.send("Create", properties(more=ADOPTING))
    cloud.api.create(namespace("aws-hyperpod"))
    assert cloud.send("Update", properties("3.0.0", more=ADOPTING))["Data"]["Revision"] == "2"
