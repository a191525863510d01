"""The provisioner's rights on the EKS cluster."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_eks_v2 as eks

from hyperpod_cdk.provisioner.access import ProvisionerAccess
from hyperpod_cdk.provisioner.provisioner import Provisioner
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView, listed

EKS = "arn:aws:eks:us-west-2:<AWS::AccountId>"


@pytest.fixture
def seen(
    stack: cdk.Stack, eks_cluster: eks.ICluster, provisioner: Provisioner, view: View
) -> TemplateView:
    ProvisionerAccess(stack, "Access", cluster=eks_cluster, provisioner=provisioner)
    return view()


def test_it_administers_the_cluster_through_an_access_entry(
    stack: cdk.Stack, provisioner: Provisioner, seen: TemplateView
) -> None:
    entry = seen.one("AWS::EKS::AccessEntry")
    (policy,) = entry["AccessPolicies"]

    assert entry["ClusterName"] == "eks"
    assert entry["PrincipalArn"] == stack.resolve(provisioner.role.role_arn)
    assert policy["AccessScope"] == {"Type": "cluster"}
    assert seen.text(policy["PolicyArn"]).endswith("/AmazonEKSClusterAdminPolicy")


@pytest.mark.parametrize(
    ("sid", "actions", "resource"),
    [
        ("UseCluster", {"eks:CreateAccessEntry", "eks:DescribeCluster"}, f"{EKS}:cluster/eks"),
        (
            "ManageAccessEntries",
            {"eks:DeleteAccessEntry", "eks:DescribeAccessEntry"},
            f"{EKS}:access-entry/eks/*",
        ),
        (
            "AssociateAccessPolicies",
            {"eks:AssociateAccessPolicy"},
            f"{EKS}:access-entry/eks/*",
        ),
    ],
)
def test_rights_end_at_this_cluster(
    seen: TemplateView, sid: str, actions: set[str], resource: str
) -> None:
    statement = seen.statement(sid)

    assert set(listed(statement["Action"])) == actions
    assert seen.text(statement["Resource"]) == resource


def test_it_makes_nobody_an_admin(seen: TemplateView) -> None:
    (values,) = seen.statement("AssociateAccessPolicies")["Condition"]["StringNotEquals"].values()

    assert [seen.text(value).rpartition("/")[2] for value in values] == [
        "AmazonEKSAdminPolicy",
        "AmazonEKSClusterAdminPolicy",
    ]


def test_the_rights_follow_the_access_entry(seen: TemplateView) -> None:
    entry = seen.id("AWS::EKS::AccessEntry")
    waiting = [name for name in seen.ids("AWS::IAM::Policy") if entry in seen.dependencies(name)]

    assert len(waiting) == 1
