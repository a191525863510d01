"""`hyperpod-cdk verify` on a deployment; the last test breaks it."""

import json
from typing import Any

import pytest

from hyperpod_cli.inspect.registered import concerning
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from hyperpod_emulator.kubernetes.controllers.workloads import UNREACHABLE
from tests.support.omissions import omissions
from tests.support.on_call import noted_calls
from tests.support.operator import Operator

# Whatever the subjects are.
_ALWAYS = {"cloudformation:DescribeStacks", "cloudformation:GetTemplate", "eks:DescribeCluster"}
# The default configuration has neither links to S3 nor people with access,
# nor is it closed; it has no teams, no Grafana and no node groups.
_NOT_FOR_THE_DEFAULT = {
    "eks:DescribeNodegroup",
    "grafana:DescribeWorkspace",
    "sagemaker:DescribeClusterSchedulerConfig",
    "sagemaker:DescribeComputeQuota",
    "sagemaker:ListClusterSchedulerConfigs",
    "sagemaker:ListComputeQuotas",
    "ec2:DescribeVpcEndpoints",
    "fsx:DescribeDataRepositoryAssociations",
    "eks:ListAssociatedAccessPolicies",
    "sns:ListSubscriptionsByTopic",
}
OWN = "kubectl get nodes -l sagemaker.amazonaws.com/cluster-name=ml-cluster"
HEALTHY = f"{OWN},sagemaker.amazonaws.com/node-health-status=Schedulable -o name"
ADDON = "aws eks describe-addon --cluster-name ml-eks --addon-name"
CUSTOM = f"{OWN} -o 'custom-columns=NAME:.metadata.name"


def checks(operator: Operator, *, code: int) -> dict[str, dict[str, Any]]:
    """Return each check of the deployment by name."""
    result = operator.run("verify", "--json")
    assert result.exit_code == code, result.output
    return {each["check"]: each for each in json.loads(result.stdout)}


@pytest.mark.slow(seconds=3)
def test_all_holds_of_what_is_deployed(operator: Operator) -> None:
    with noted_calls() as made:
        found = checks(operator, code=0)
    own = concerning(SUBJECTS, operator.stage.config)
    subjects = [each for name, each in own.items() if name != "encryption"]
    reads = {*_ALWAYS, *(action for each in subjects for action in each.iam)}
    assert made == reads - _NOT_FOR_THE_DEFAULT, "name in `iam` of the subject what it calls"
    assert [name for name, check in found.items() if not check["ok"]] == []
    assert {check["advice"] for check in found.values()} == {""}
    for seed in range(3):
        with omissions(seed):
            assert checks(operator, code=0).keys() == found.keys()
    names = "\n".join(found)
    for part in ("GPU:.status.allocatable", "EFA:", "security-groups", "route", "access-entry"):
        assert part in names

    *lines, unknown = operator.output("verify", "--wait").splitlines()
    assert unknown.startswith("Not known: whether pods on the nodes of HyperPod reach the instance")
    assert lines == [
        *(f"ok   {name}" for name in found),
        "",
        f"{len(found)} of {len(found)} checks hold.",
    ]

    unused = operator.run("verify", "--timeout", "5")
    assert (unused.exit_code, unused.stderr[:13]) == (2, "--timeout: re")
    elsewhere = operator.run("verify", "--region", "us-east-1")
    assert elsewhere.exit_code == 2
    assert elsewhere.stderr.startswith("stack: ml-platform is not deployed ")


@pytest.mark.slow(seconds=2)
def test_every_command_that_is_shown_runs(operator: Operator) -> None:
    tools = operator.stage.tools
    shown = [name.partition(": ")[0] for name in checks(operator, code=0)]
    commands = [name for name in shown if name.startswith(("kubectl ", "helm "))]
    assert len(commands) > 12
    for command in commands:
        assert tools.run(command)[0], command


@pytest.mark.slow(seconds=4)
def test_what_fails_is_told_with_what_to_do(operator: Operator) -> None:
    _break(operator)
    found = checks(operator, code=1)

    told = {name: check["found"] for name, check in found.items() if not check["ok"]}
    wanted = {
        "kubectl get deploy hyperpod-dependencies-mpi-operator": "is not installed",
        "kubectl get crd mpijobs.kubeflow.org mxjobs": "there is no tfjobs.kubeflow.org",
        "kubectl get priorityclass inference": "there is no training",
        "helm status": "hyperpod-dependencies is failed",
        HEALTHY: "worker-group-2 has 0 of 1; hyperpod-i-",
        f"{CUSTOM},GPU": "offers none of 4",
        f"{CUSTOM},EFA": "offers none of 1",
        "aws s3 ls": "is not there",
        "all 2 NAT gateways": "1 are",
        "aws ec2 describe-route-tables": ": no route out",
        "aws ec2 describe-security-groups": "lacks all traffic to itself",
        "aws eks describe-access-entry": "there is none",
        f"{ADDON} coredns": "is not installed",
        f"{ADDON} aws-fsx-csi-driver": "is DEGRADED",
        "kubectl get deploy coredns": "is not installed",
        "kubectl get csidriver fsx.csi.aws.com": "is not installed",
        "kubectl get pods -A -l app=fsx-csi-node": ": ImagePullBackOff",
        "kubectl get pvc fsx-claim": "is not there",
        "kubectl get ds hyperpod-dependencies-aws-efa": "is not installed",
        "kubectl get ds hyperpod-dependencies-nvidia": "is not installed",
    }
    missing = [
        name
        for name, part in wanted.items()
        if not any(each.startswith(name) and part in told[each] for each in told)
    ]
    assert (missing, len(told)) == ([], len(wanted)), told
    assert all(found[name]["advice"] for name in told)
    table = " ".join(operator.run("verify").stdout.split())
    assert "GPU not visible: " in table
    assert f"{len(found) - len(wanted)} of {len(found)} checks hold." in table


def _break(operator: Operator) -> None:
    _break_kubernetes(operator)
    clients = operator.stage.environment.clients
    outputs = operator.stage.outputs()["ml-platform"]
    clients("s3").delete_object(Bucket=outputs["S3BucketName"], Key="on_create.sh")
    ec2 = clients("ec2")
    group_id = outputs["SecurityGroupId"]
    of_group = [{"Name": "group-id", "Values": [group_id]}]
    rules = ec2.describe_security_group_rules(Filters=of_group)["SecurityGroupRules"]
    (own,) = [rule for rule in rules if rule["IsEgress"] and "ReferencedGroupInfo" in rule]
    ec2.revoke_security_group_egress(
        GroupId=group_id, SecurityGroupRuleIds=[own["SecurityGroupRuleId"]]
    )
    nodes = [{"Name": "association.subnet-id", "Values": [outputs["PrivateSubnetId"]]}]
    (table,) = ec2.describe_route_tables(Filters=nodes)["RouteTables"]
    gateway = next(route["NatGatewayId"] for route in table["Routes"] if "NatGatewayId" in route)
    for each in ec2.describe_route_tables()["RouteTables"]:
        if any(route.get("NatGatewayId") == gateway for route in each["Routes"]):
            ec2.delete_route(RouteTableId=each["RouteTableId"], DestinationCidrBlock="0.0.0.0/0")
    eks, cluster = clients("eks"), outputs["EKSClusterName"]
    eks.delete_access_entry(clusterName=cluster, principalArn=outputs["SageMakerIAMRoleArn"])
    eks.delete_addon(clusterName=cluster, addonName="coredns")


def _break_kubernetes(operator: Operator) -> None:
    tools = operator.stage.tools
    release, system = "hyperpod-dependencies", "-n kube-system"
    for command in (
        f"kubectl delete ds {release}-nvidia-device-plugin {system}",
        f"kubectl delete ds {release}-aws-efa-k8s-device-plugin {system}",
        f"kubectl delete deploy {release}-mpi-operator {system}",
        "kubectl delete crd tfjobs.kubeflow.org",
        "kubectl delete priorityclass training",
        f"kubectl label secret -l owner=helm,name={release} status=failed --overwrite {system}",
        "kubectl label node -l node.kubernetes.io/instance-type=ml.m5.2xlarge "
        "sagemaker.amazonaws.com/node-health-status=Unschedulable --overwrite",
        "kubectl delete pvc fsx-claim",
        "kubectl delete csidriver fsx.csi.aws.com",
        f"kubectl set image ds/fsx-csi-node fsx-plugin={UNREACHABLE}fsx:1 {system}",
    ):
        assert tools.run(command)[0], command
