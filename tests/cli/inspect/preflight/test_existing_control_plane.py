"""Whether HyperPod can use an existing EKS cluster."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from emulator.aws.local_aws import LocalAws, LocalAwsSettings, aws_clients
from emulator.hyperpod import ApiError, Caller, HyperPodService
from emulator.hyperpod.server import HyperPodApi
from hyperpod_cdk import Config, load_config
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.existing_control_plane import existing_control_plane
from rehearsal.existing_resources import existing_resources
from rehearsal.existing_resources.eks_clusters import EksCluster
from rehearsal.existing_resources.networks import ExistingNetwork
from tests.support.configs import CONFIG_FOLDER
from tests.support.hyperpod_api import FakeClock, create_request, group

ACCOUNT, REGION = "111122223333", "us-west-2"
VPC, GROUP = "vpc-0c1b2c3d4e5f60718", "sg-0c1b2c3d4e5f60002"
ADDONS = ("eks-pod-identity-agent", "aws-fsx-csi-driver")


@pytest.fixture(scope="module")
def hyperpod() -> Iterator[HyperPodApi]:
    with HyperPodApi(service=HyperPodService(clock=FakeClock())) as api:
        yield api


@pytest.fixture(scope="module")
def target(hyperpod: HyperPodApi) -> Iterator[Target]:
    """An account of its own: examples of other subjects name the same VPC, with less in it."""
    settings = LocalAwsSettings(account=ACCOUNT, region=REGION, hyperpod_api=hyperpod.url)
    with LocalAws(settings) as aws:
        yield Target(partition="aws", account=ACCOUNT, region=REGION, client=aws_clients(aws))


@pytest.fixture(scope="module")
def config(target: Target) -> Config:
    """The example whose EKS cluster there is."""
    loaded = load_config(CONFIG_FOLDER / "examples" / "existing-eks.yaml")
    for each in existing_resources(loaded):
        if isinstance(each, EksCluster | ExistingNetwork):
            each.make(target.client)
    return loaded


def changed(config: Config, section: str, **values: Any) -> Config:
    """Return a configuration with other values in a section."""
    other = getattr(config, section).model_copy(update=values)
    return config.model_copy(update={section: other})


def lines(config: Config, target: Target) -> list[str]:
    return [str(each.finding) for each in existing_control_plane(config, target)]


def test_one_that_is_made_is_not_looked_at(default_config: Config, target: Target) -> None:
    assert lines(default_config, target) == []


def test_one_with_what_hyperpod_needs_passes(config: Config, target: Target) -> None:
    assert lines(config, target) == []


@pytest.mark.parametrize(
    ("section", "values", "said"),
    [
        (
            "eks",
            {"cluster_arn": "arn:aws:eks:us-west-2:444455556666:cluster/research"},
            "eks.cluster_arn: 'arn:aws:eks:us-west-2:444455556666:cluster/research' must be of",
        ),
        (
            "eks",
            {"version": "1.33"},
            "eks.version: '1.33' is not the version of research: write \"1.34\"",
        ),
        (
            "eks",
            {"endpoint_access": "private"},
            "eks.endpoint_access: 'private' is not that of research; write public_and_private",
        ),
        (
            "eks",
            {"public_access_cidrs": ("192.0.2.0/24",)},
            "eks.public_access_cidrs: ['192.0.2.0/24'] are not those of research; write [0.0.0.0",
        ),
        (
            "network",
            {"security_group_id": "sg-0123456789abcdef0"},
            "network.security_group_id: 'sg-0123456789abcdef0' is not carried by research",
        ),
    ],
)
def test_what_is_otherwise_is_told_with_what_to_write(
    config: Config, target: Target, section: str, values: dict[str, Any], said: str
) -> None:
    (line,) = lines(changed(config, section, **values), target)
    assert line.startswith(said)


def test_an_eks_cluster_serves_one_hyperpod_cluster(
    config: Config, target: Target, hyperpod: HyperPodApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    arn, caller = config.eks.cluster_arn, Caller(account=ACCOUNT, region=REGION)
    monkeypatch.setattr(hyperpod, "service", HyperPodService(clock=FakeClock()))
    using = create_request(group(), ClusterName="theirs", Orchestrator={"Eks": {"ClusterArn": arn}})
    hyperpod.service.call("CreateCluster", using, caller)

    (problem,) = existing_control_plane(config, target)

    assert str(problem.finding).startswith(
        f"eks.cluster_arn: '{arn}' serves the HyperPod cluster theirs already"
    )
    assert problem.command == "aws sagemaker describe-cluster --cluster-name theirs"
    assert lines(changed(config, "cluster", name="theirs"), target) == []
    with pytest.raises(ApiError, match="is already used by HyperPod cluster 'theirs'"):
        hyperpod.service.call("CreateCluster", {**using, "ClusterName": "ours"}, caller)


def test_missing_addons_are_a_warning(config: Config, target: Target) -> None:
    (problem,) = existing_control_plane(changed(config, "eks", addons=()), target)
    assert problem.finding.severity is Severity.WARNING
    assert str(problem.finding).startswith(
        "eks.addons: [] leaves out aws-fsx-csi-driver, eks-pod-identity-agent, which research does "
        "not have as EKS add-ons"
    )
    assert problem.command == "aws eks list-addons --cluster-name research"


def test_a_principal_has_one_access_entry(config: Config, target: Target) -> None:
    admin, other = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Owner", "Other"))
    listed = changed(config, "eks", admins=(other, admin))

    class Eks:
        def describe_cluster(self, *, name: str) -> object:
            found = target.client("eks").describe_cluster(name=name)["cluster"]
            return {"cluster": {**found, "accessConfig": {"authenticationMode": "API"}}}

        def get_paginator(self, name: str) -> Any:  # noqa: ANN401 - any operation's
            if name == "list_access_entries":
                pages = [{"accessEntries": []}, {"accessEntries": [admin]}]
                return Mock(paginate=lambda **_: pages)
            return target.client("eks").get_paginator(name)

    modern = replace(target, client=lambda name: Eks() if name == "eks" else target.client(name))
    (line,) = lines(listed, modern)
    assert line.startswith(f"eks.admins[1]: '{admin}' has an access entry on research, and Cloud")
    # Under CONFIG_MAP, as it is, EKS lists none.
    assert lines(listed, target) == []


def test_a_version_that_hyperpod_does_not_know(config: Config, target: Target) -> None:
    class Eks:
        def describe_cluster(self, *, name: str) -> object:
            found = target.client("eks").describe_cluster(name=name)["cluster"]
            return {"cluster": {**found, "version": "1.29"}}

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any other operation
            return getattr(target.client("eks"), name)

    old = replace(target, client=lambda name: Eks() if name == "eks" else target.client(name))
    (line,) = lines(config, old)
    assert "has Kubernetes 1.29, and HyperPod supports 1.30, 1.31" in line
