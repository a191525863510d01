"""Objects of the chart that exist before the release, with the real helm."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.helm_accidents import helm_by_hand
from tests.support.provisioner.helm_charts import definition, packaged
from tests.support.provisioner.helm_cloud import Cloud, namespace, properties

ADOPTING = {"AdoptNamespaces": json.dumps(["kubeflow", "aws-hyperpod"])}
SERVICE_ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "agent", "namespace": "kubeflow"},
}


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
