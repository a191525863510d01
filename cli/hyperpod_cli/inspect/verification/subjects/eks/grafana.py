"""Grafana: the pod in the cluster, or the workspace of Amazon Managed Grafana."""

from urllib.parse import urlsplit

from hyperpod_cdk.observability.section import IN_CLUSTER, RELEASE
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.aws.stacks import outputs_of
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import Workload
from hyperpod_stacks.table import stack_name

_WITHOUT = "No dashboard is shown without it. "


@subject(
    phase=Phase.ADDONS,
    iam=["cloudformation:DescribeStacks", "grafana:DescribeWorkspace"],
    needs_kubernetes=True,
)
def grafana(deployment: LiveDeployment) -> Checks:
    """Grafana in the cluster has its pod; an Amazon Managed Grafana workspace is ACTIVE."""
    section = deployment.config.observability.grafana
    if section is None:
        return
    if section.kind == IN_CLUSTER:
        pod = Workload(kind="deploy", name=RELEASE, namespace=RELEASE, without=_WITHOUT)
        yield pod.check(
            deployment, install="It was deleted: `hyperpod-cdk deploy` installs it again"
        )
        return
    stack = stack_name(deployment.config, "operators")
    url = outputs_of(deployment.client("cloudformation"), stack)["GrafanaUrl"]
    identifier = str(urlsplit(url).hostname).partition(".")[0]
    answer = answer_of(deployment.client("grafana").describe_workspace, workspaceId=identifier)
    status = "gone" if answer is None else answer["workspace"]["status"]
    yield checked(
        f"aws grafana describe-workspace --workspace-id {identifier}: ACTIVE",
        problem=None if status == "ACTIVE" else f"is {status}",
        advice=f"{_WITHOUT}Look at it in the console of Amazon Managed Grafana",
    )
