"""What goes with a release, and what must not, with the real helm."""

from typing import Any

import pytest
import yaml

from hyperpod_emulator.kubernetes import Fault
from hyperpod_shared.errors import ProvisioningError
from tests.conftest import Raises
from tests.support.provisioner.helm_charts import definition
from tests.support.provisioner.helm_cloud import DENIED, Cloud, namespace, properties

pytestmark = pytest.mark.slow(seconds=4)

CONSENT = {"DeleteUserObjects": "true"}
CONSENT_TAG = {"hyperpod-cdk:delete-user-objects": "6f1c2b5e-aa11"}
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


def test_delete_is_refused_while_users_have_objects_in_its_namespaces(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.install(properties())
    items = (POD, CLAIM, BATCH_JOB, TRAINING_JOB)
    for item in items:
        cloud.api.create(item)
    before = cloud.api.objects("v1", "Secret", "training")
    with raises(ProvisioningError) as refused:
        cloud.send("Delete", properties())
    text = str(refused.value)
    assert len(text) < 1000
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.api.objects("v1", "Secret", "training") == before
    for item in items:
        name = item["metadata"]["name"]
        assert f"{item['kind']} kubeflow/{name}" in text
        assert name in cloud.names(item["apiVersion"], item["kind"], "kubeflow")


def test_consent_by_a_property_lets_everything_go_until_it_is_taken_back(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.install(properties(more=CONSENT))
    cloud.api.create(TRAINING_JOB)
    cloud.send("Update", properties())
    with raises(ProvisioningError):
        cloud.send("Delete", properties())
    cloud.send("Update", properties(more=CONSENT))
    assert cloud.send("Delete", properties(more=CONSENT)) == {"IsComplete": True}
    assert "kubeflow" not in cloud.names("v1", "Namespace")
    assert cloud.names("example.com/v1", "Job") == []


def test_consent_by_a_tag_counts_for_this_stack_and_needs_no_list(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.install(properties())
    cloud.api.create(TRAINING_JOB)
    cloud.tags = {"hyperpod-cdk:delete-user-objects": "0d0d0d0d-bb22"}
    with raises(ProvisioningError):
        cloud.send("Delete", properties())
    cloud.tags = CONSENT_TAG
    listing = frozenset({"list"})
    cloud.api.inject(Fault(code=500, kind="Job", verbs=listing, passes=False, times=None))
    assert cloud.send("Delete", properties()) == {"IsComplete": True}
    assert "kubeflow" not in cloud.names("v1", "Namespace")


def test_what_the_chart_kubernetes_and_hyperpod_run_does_not_count(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.add_chart("3.0.0", {"templates/a.yaml": yaml.safe_dump(namespace("aws-hyperpod"))})
    cloud.install(properties("3.0.0"))
    (operator,) = cloud.api.objects("apps/v1", "Deployment", "kubeflow")
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "operator"}
    references = [{**owner, "uid": operator["metadata"]["uid"]}]
    cloud.api.create(
        _object("v1", "Pod", "operator-x", metadata={"ownerReferences": references}, spec=POD_SPEC)
    )
    cloud.api.create(_object("v1", "ConfigMap", "settings", data={"a": "b"}))
    accounts = {
        "stress": "deep-health-check-service-account",
        "manager": "hp-training-operator-controller-manager",
        "mine": "default",
    }
    for name, account in accounts.items():
        spec = {**POD_SPEC, "serviceAccountName": account, "restartPolicy": "Never"}
        where = {"metadata": {"namespace": "aws-hyperpod"}}
        cloud.api.create(_object("v1", "Pod", name, spec=spec, **where))
        cloud.api.create(
            _object("batch/v1", "Job", name, spec={"template": {"spec": spec}}, **where)
        )
    with raises(ProvisioningError):
        cloud.send("Delete", properties("3.0.0"))
    cloud.api.delete("v1", "Pod", "mine", namespace="aws-hyperpod")
    cloud.api.delete("batch/v1", "Job", "mine", namespace="aws-hyperpod")
    assert cloud.send("Delete", properties("3.0.0")) == {"IsComplete": True}
    assert not {"aws-hyperpod", "kubeflow"} & {*cloud.names("v1", "Namespace")}


def test_objects_of_a_definition_count_wherever_they_are(cloud: Cloud, raises: Raises) -> None:
    cloud.add_chart("3.0.0", {"templates/mpi.yaml": definition("mpijobs", "MPIJob", "v1")})
    cloud.install(properties("3.0.0"))
    cloud.api.create(namespace("team-a"))
    mpi_job = _object("example.com/v1", "MPIJob", "ring", metadata={"namespace": "team-a"})
    cloud.api.create(mpi_job)
    with raises(ProvisioningError):
        cloud.send("Delete", properties("3.0.0"))
    cloud.tags = CONSENT_TAG  # to the deletion of the stack, and to no upgrade
    with raises(ProvisioningError):
        cloud.send("Update", properties("2.0.0"))
    assert cloud.operator() == "3.0.0 x1"
    assert cloud.names("example.com/v1", "MPIJob") == ["ring"]
    assert cloud.send("Update", properties("3.0.0"))["Data"]["Revision"] == "1"
    assert cloud.send("Update", properties("2.0.0", more=CONSENT))["Data"]["Revision"] == "2"
    assert "mpijobs.example.com" not in cloud.names(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition"
    )


def test_failed_install_into_a_namespace_in_use_takes_nothing_along(
    cloud: Cloud, raises: Raises
) -> None:
    cloud.api.create(namespace("kubeflow"))
    cloud.api.create(POD)
    cloud.api.inject(DENIED)
    adopting = {"AdoptNamespaces": '["kubeflow"]'}
    with raises(ProvisioningError):
        cloud.send("Create", properties(more=adopting))
    cloud.api.clear_faults()
    with raises(ProvisioningError):
        cloud.send("Delete", properties(more=adopting))
    assert cloud.names("v1", "Pod", "kubeflow") == ["mine"]


def test_way_back_from_a_failed_upgrade_keeps_users_objects(cloud: Cloud, raises: Raises) -> None:
    late = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: team}\n"
    both = {"templates/a.yaml": yaml.safe_dump(namespace("team")), "templates/late.yaml": late}
    cloud.add_chart("3.0.0", both)
    cloud.install(properties())
    cloud.api.create(namespace("team"))
    cloud.api.create(_object("v1", "Pod", "mine", spec=POD_SPEC, metadata={"namespace": "team"}))
    adopting = {"AdoptNamespaces": '["team"]'}
    cloud.api.inject(Fault(kind="ConfigMap", code=403, reason="Forbidden", message="no", times=1))
    with raises(ProvisioningError):
        cloud.send("Update", properties("3.0.0", more=adopting))
    assert cloud.names("v1", "Pod", "team") == ["mine"]
    for version in ("3.0.0", "1.0.0"):
        answer = cloud.send("Update", properties(version, more=adopting))
        assert answer["Data"]["Status"] == "deployed"
    assert cloud.names("v1", "Pod", "team") == ["mine"]


def test_namespace_that_the_chart_says_to_keep_is_not_counted(cloud: Cloud) -> None:
    kept = (
        "apiVersion: v1\nkind: Namespace\n"
        "metadata: {name: kubeflow, annotations: {helm.sh/resource-policy: keep}}\n"
    )
    cloud.add_chart("3.0.0", {"templates/namespace.yaml": kept})
    cloud.install(properties("3.0.0"))
    cloud.api.create(POD)
    assert cloud.send("Delete", properties("3.0.0")) == {"IsComplete": True}
    assert cloud.names("v1", "Pod", "kubeflow") == ["mine"]
