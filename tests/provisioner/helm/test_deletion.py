"""What goes with a release, and what must not, with the real helm."""

from typing import Any

import pytest
import yaml

from emulator.kubernetes import Fault
from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.helm_charts import definition
from tests.support.provisioner.helm_cloud import DENIED, Cloud, namespace, properties

pytestmark = pytest.mark.slow(seconds=4)

CONSENT = {"DeleteUserObjects": "true"}
CONSENT_COMMAND = (
    "aws eks tag-resource --region us-west-2 "
    "--resource-arn arn:aws:eks:us-west-2:111122223333:cluster/ml "
    "--tags hyperpod-cdk:delete-user-objects=6f1c2b5e-aa11"
)
POD_SPEC = {"containers": [{"name": "main", "image": "example/main:1"}]}


def _object(api_version: str, kind: str, name: str, **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kubeflow", **rest.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


POD = _object("v1", "Pod", "mine", spec=POD_SPEC)
CLAIM = _object(
    "v1",
    "PersistentVolumeClaim",
    "checkpoints",
    spec={
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
)
BATCH_JOB = _object(
    "batch/v1",
    "Job",
    "preprocess",
    spec={"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}},
)
TRAINING_JOB = _object("example.com/v1", "Job", "bert")


@pytest.mark.parametrize(
    "item", [POD, CLAIM, BATCH_JOB, TRAINING_JOB], ids=lambda item: item["metadata"]["name"]
)
def test_delete_is_refused_while_users_have_objects_in_its_namespaces(
    cloud: Cloud, item: dict[str, Any]
) -> None:
    cloud.send("Create", properties())
    cloud.api.create(item)
    before = cloud.api.objects("v1", "Secret", "training")
    with pytest.raises(ProvisioningError) as refused:
        cloud.send("Delete", properties())
    text = str(refused.value)
    assert "would delete the namespace kubeflow" in text
    assert f"{item['kind']} kubeflow/{item['metadata']['name']}" in text
    assert CONSENT_COMMAND in text
    assert len(text) < 1000
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.api.objects("v1", "Secret", "training") == before
    assert item["metadata"]["name"] in cloud.names(item["apiVersion"], item["kind"], "kubeflow")


def test_consent_lets_everything_go(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.create(TRAINING_JOB)
    cloud.send("Update", properties(more=CONSENT))
    assert cloud.send("Delete", properties(more=CONSENT)) == {"IsComplete": True}
    assert "kubeflow" not in cloud.names("v1", "Namespace")
    assert cloud.names("example.com/v1", "Job") == []


def test_consent_given_by_a_tag_lets_everything_go(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.create(TRAINING_JOB)
    cloud.tags = {"hyperpod-cdk:delete-user-objects": "6f1c2b5e-aa11"}
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert "kubeflow" not in cloud.names("v1", "Namespace")


def test_consent_to_deleting_the_stack_is_none_to_an_upgrade(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")})
    cloud.send("Create", properties("3.0.0"))
    cloud.api.create(_object("example.com/v1", "MPIJob", "ring"))
    cloud.tags = {"hyperpod-cdk:delete-user-objects": "6f1c2b5e-aa11"}
    with pytest.raises(ProvisioningError, match=r"MPIJob kubeflow/ring.*delete_user_objects: true"):
        cloud.send("Update", properties("2.0.0"))
    assert cloud.names("example.com/v1", "MPIJob") == ["ring"]


def test_with_consent_objects_that_cannot_be_listed_hinder_no_deletion(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.create(TRAINING_JOB)
    cloud.tags = {"hyperpod-cdk:delete-user-objects": "6f1c2b5e-aa11"}
    listing = frozenset({"list"})
    cloud.api.inject(Fault(code=500, kind="Job", verbs=listing, passes=False, times=None))
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


def test_consent_to_deleting_a_former_stack_does_not_count(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    cloud.api.create(TRAINING_JOB)
    cloud.tags = {"hyperpod-cdk:delete-user-objects": "0d0d0d0d-bb22"}
    with pytest.raises(ProvisioningError, match="Job kubeflow/bert"):
        cloud.send("Delete", properties())


def test_consent_can_be_taken_back(cloud: Cloud) -> None:
    cloud.send("Create", properties(more=CONSENT))
    cloud.api.create(TRAINING_JOB)
    cloud.send("Update", properties())
    with pytest.raises(ProvisioningError, match="Job kubeflow/bert"):
        cloud.send("Delete", properties())


def test_many_objects_are_counted_and_some_named(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    for number in range(8):
        cloud.api.create(_object("example.com/v1", "Job", f"bert-{number}"))
    with pytest.raises(ProvisioningError, match=r"Job kubeflow/bert-4 and 3 more\."):
        cloud.send("Delete", properties())


def test_what_the_chart_and_kubernetes_made_does_not_count(cloud: Cloud) -> None:
    cloud.send("Create", properties())
    (operator,) = cloud.api.objects("apps/v1", "Deployment", "kubeflow")
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "operator"}
    references = [{**owner, "uid": operator["metadata"]["uid"]}]
    cloud.api.create(
        _object("v1", "Pod", "operator-x", metadata={"ownerReferences": references}, spec=POD_SPEC)
    )
    cloud.api.create(_object("v1", "ConfigMap", "settings", data={"a": "b"}))
    assert cloud.send("Delete", properties()) == {"IsComplete": True}


@pytest.mark.parametrize(
    ("account", "counts"),
    [
        ("deep-health-check-service-account", False),
        ("hp-training-operator-controller-manager", False),
        ("default", True),
    ],
)
@pytest.mark.parametrize("by_job", [False, True])
def test_what_hyperpod_runs_does_not_count(
    cloud: Cloud, account: str, *, counts: bool, by_job: bool
) -> None:
    cloud.add_chart("3.0.0", {"templates/a.yaml": yaml.safe_dump(namespace("aws-hyperpod"))})
    cloud.send("Create", properties("3.0.0"))
    spec = {**POD_SPEC, "serviceAccountName": account, "restartPolicy": "Never"}
    where = {"metadata": {"namespace": "aws-hyperpod"}}
    cloud.api.create(
        _object("batch/v1", "Job", "stress", spec={"template": {"spec": spec}}, **where)
        if by_job
        else _object("v1", "Pod", "stress", spec=spec, **where)
    )
    if counts:
        with pytest.raises(ProvisioningError, match="aws-hyperpod/stress"):
            cloud.send("Delete", properties("3.0.0"))
    else:
        assert cloud.send("Delete", properties("3.0.0")) == {"IsComplete": True}
        assert "aws-hyperpod" not in cloud.names("v1", "Namespace")


def test_objects_of_a_definition_count_wherever_they_are(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")})
    cloud.send("Create", properties("3.0.0"))
    cloud.api.create(namespace("team-a"))
    mpi_job = _object("example.com/v1", "MPIJob", "ring", metadata={"namespace": "team-a"})
    cloud.api.create(mpi_job)
    with pytest.raises(ProvisioningError, match="MPIJob team-a/ring") as refused:
        cloud.send("Delete", properties("3.0.0"))
    assert "the CustomResourceDefinition mpijobs.example.com" in str(refused.value)


def test_upgrade_that_would_delete_them_is_refused_too(cloud: Cloud) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")})
    cloud.send("Create", properties("3.0.0"))
    cloud.api.create(_object("example.com/v1", "MPIJob", "ring"))
    with pytest.raises(ProvisioningError, match=r"Upgrading .* MPIJob kubeflow/ring"):
        cloud.send("Update", properties("2.0.0"))
    assert cloud.operator() == "3.0.0 x1"
    assert cloud.names("example.com/v1", "MPIJob") == ["ring"]
    assert cloud.send("Update", properties("3.0.0"))["Data"]["Revision"] == "1"
    assert cloud.send("Update", properties("2.0.0", more=CONSENT))["Data"]["Revision"] == "2"
    assert "mpijobs.example.com" not in cloud.names(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition"
    )


def test_failed_install_into_a_namespace_in_use_takes_nothing_along(cloud: Cloud) -> None:
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(POD)
    cloud.api.inject(DENIED)
    adopting = {"AdoptNamespaces": '["kubeflow"]'}
    with pytest.raises(ProvisioningError, match="denied by the quota"):
        cloud.send("Create", properties(more=adopting))
    cloud.api.clear_faults()
    with pytest.raises(ProvisioningError, match="Pod kubeflow/mine"):
        cloud.send("Delete", properties(more=adopting))
    assert cloud.names("v1", "Pod", "kubeflow") == ["mine"]


def test_way_back_from_a_failed_upgrade_keeps_users_objects(cloud: Cloud) -> None:
    late = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: team}\n"
    both = {"templates/a.yaml": yaml.safe_dump(namespace("team")), "templates/late.yaml": late}
    cloud.add_chart("3.0.0", both)
    cloud.api.create(namespace("team"))
    cloud.api.create(_object("v1", "Pod", "mine", spec=POD_SPEC, metadata={"namespace": "team"}))
    adopting = {"AdoptNamespaces": '["team"]'}
    cloud.send("Create", properties(more=adopting))
    cloud.api.inject(Fault(kind="ConfigMap", code=403, reason="Forbidden", message="no", times=1))
    with pytest.raises(ProvisioningError, match="Revision 1 serves again"):
        cloud.send("Update", properties("3.0.0", more=adopting))
    assert cloud.names("v1", "Pod", "team") == ["mine"]
    assert cloud.send("Update", properties(more=adopting))["Data"]["Status"] == "deployed"
    assert cloud.send("Update", properties("3.0.0", more=adopting))["Data"]["Status"] == "deployed"
    assert cloud.send("Update", properties(more=adopting))["Data"]["Status"] == "deployed"
    assert cloud.names("v1", "Pod", "team") == ["mine"]


def test_namespace_that_the_chart_says_to_keep_is_not_counted(cloud: Cloud) -> None:
    kept = (
        "apiVersion: v1\nkind: Namespace\n"
        "metadata: {name: kubeflow, annotations: {helm.sh/resource-policy: keep}}\n"
    )
    cloud.add_chart("3.0.0", {"templates/namespace.yaml": kept})
    cloud.send("Create", properties("3.0.0"))
    cloud.api.create(POD)
    assert cloud.send("Delete", properties("3.0.0")) == {"IsComplete": True}
    assert cloud.names("v1", "Pod", "kubeflow") == ["mine"]
