"""Grafana: what it may read, what stays of it, and what the collectors are told."""

import json
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks
from aws_cdk.assertions import Template
from aws_cdk.aws_grafana import CfnWorkspace

from hyperpod_cdk import (
    GrafanaConfig,
    GrafanaInCluster,
    ImportedGrafana,
    ImportedWorkspace,
    Provisioner,
)
from hyperpod_cdk.observability.grafana import grafana_of
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView

PROMETHEUS = ImportedWorkspace(
    workspace_arn="arn:aws:aps:us-west-2:111122223333:workspace/ws-1234abcd"
)
ARN = "arn:aws:grafana:us-west-2:111122223333:/workspaces/g-0123456789"
QUERY = ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"]
MODELS: Mapping[str, Mapping[str, Any]] = {"gpus": {"uid": "gpus", "title": "GPUs", "panels": []}}
WORKSPACE = "AWS::Grafana::Workspace"


def rights(seen: TemplateView, *sids: str) -> dict[str, list[str] | str]:
    """Return the actions of the statements of these names, by the resource."""
    found = [seen.statement(each) for each in sids]
    return {each["Resource"]: each["Action"] for each in found}


@pytest.mark.parametrize(
    ("is_deleted", "policy"), [(False, "RetainExceptOnCreate"), (True, "Delete")]
)
def test_a_workspace_stays_unless_it_is_to_go(
    stack: cdk.Stack, is_deleted: bool, policy: str
) -> None:
    grafana_of(
        stack,
        "Grafana",
        config=GrafanaConfig(kind="managed", delete_with_stack=is_deleted),
        name="ml",
        prometheus=PROMETHEUS,
    )

    (resource,) = Template.from_stack(stack).find_resources(WORKSPACE).values()
    assert resource["DeletionPolicy"] == policy


def test_a_workspace_of_yours_stays_as_it_is(stack: cdk.Stack) -> None:
    named = GrafanaConfig(kind="managed", workspace_arn=ARN, workspace_name="research")

    found = grafana_of(stack, "Grafana", config=named, name="ml", prometheus=PROMETHEUS)

    assert found == ImportedGrafana(workspace_arn=ARN, workspace_name="research")
    assert stack.resolve(found.url)["Fn::Join"][1][0] == (
        "https://g-0123456789.grafana-workspace.us-west-2."
    )
    assert [each for each in stack.node.find_all() if isinstance(each, CfnWorkspace)] == []


@pytest.mark.parametrize("cloudwatch", [False, True])
def test_the_one_in_the_cluster_reads_cloudwatch_if_a_dashboard_does(
    *,
    cloudwatch: bool,
    stack: cdk.Stack,
    eks_cluster: eks.ICluster,
    provisioner: Provisioner,
    view: View,
) -> None:
    made = GrafanaInCluster(
        stack,
        "Grafana",
        cluster=eks_cluster,
        provisioner=provisioner,
        prometheus=PROMETHEUS,
        dashboards=MODELS,
        cloudwatch=cloudwatch,
    )

    seen = view()
    sids = {each.get("Sid") for _, each in seen.statements()}
    assert ("ReadCloudWatch" in sids) is cloudwatch
    assert rights(seen, "QueryMetrics") == {PROMETHEUS.workspace_arn: QUERY}
    association = seen.one("AWS::EKS::PodIdentityAssociation")
    assert association["Namespace"] == association["ServiceAccount"] == "hyperpod-grafana"
    release = seen.one("Custom::HelmRelease")
    values = json.loads(seen.text(release["Values"]))
    assert (values["dashboards"], values["cloudwatch"]) == (MODELS, cloudwatch)
    assert (
        made.command == "kubectl port-forward -n hyperpod-grafana deployment/hyperpod-grafana 3000"
    )
