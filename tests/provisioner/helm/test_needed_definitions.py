"""A release of objects whose definitions somebody else brings, and takes away."""

import json

import pytest
import yaml

from hyperpod_shared.errors import ProvisioningError
from provisioner.helm import release as helm_release
from tests.conftest import Raises
from tests.support.provisioner.helm_charts import definition
from tests.support.provisioner.helm_cloud import Cloud, properties

POOL = "apiVersion: example.com/v1\nkind: Pool\nmetadata: {name: gpu, namespace: training}\n"
NEEDS = {"NeedsDefinitions": json.dumps(["pools.example.com"])}


@pytest.fixture
def pools(cloud: Cloud) -> Cloud:
    others = ("templates/namespace.yaml", "templates/operator.yaml", "crds/job.yaml")
    cloud.add_chart("3.0.0", {**dict.fromkeys(others), "templates/pool.yaml": POOL})
    return cloud


def _bring(cloud: Cloud) -> None:
    cloud.api.create(yaml.safe_load(definition("pools", "Pool", "v1")))


def test_a_definition_that_comes_later_is_waited_for(pools: Cloud) -> None:
    accepted = pools.start("Create", properties("3.0.0") | NEEDS)
    assert pools.poll(accepted) == {"IsComplete": False}
    assert pools.api.objects("v1", "Secret", "training") == []
    _bring(pools)
    assert pools.poll(accepted) == {"IsComplete": False}
    assert pools.poll(accepted)["Data"]["Revision"] == "1"
    assert pools.names("example.com/v1", "Pool") == ["gpu"]


def test_a_definition_that_never_comes_is_named(
    pools: Cloud, monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    accepted = pools.start("Create", properties("3.0.0") | NEEDS)
    monkeypatch.setattr(helm_release, "_LONGEST_WAIT_MINUTES", 0)
    with raises(ProvisioningError):
        pools.poll(accepted)


def test_the_release_goes_although_its_definition_is_gone(pools: Cloud) -> None:
    _bring(pools)
    pools.send("Create", properties("3.0.0") | NEEDS)
    pools.api.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pools.example.com")

    assert pools.send("Delete", properties("3.0.0") | NEEDS) == {"IsComplete": True}
    assert pools.api.objects("v1", "Secret", "training") == []
