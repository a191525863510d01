"""The EKS cluster lacks the add-ons of the operators, and has what these need."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.observability.section import KEYS as METRICS_KEYS
from hyperpod_cdk.schema.errors import KeyPath, Severity
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, problem, validator
from hyperpod_stacks.table import StackKind, stack_name


def _made(config: Config) -> dict[str, KeyPath]:
    """Return the switch of each add-on that the deployment installs by one."""
    switches: dict[str, KeyPath] = {
        **{addon.name: ("operators", addon.key) for addon in OPERATOR_ADDONS},
        **{addon: ("observability", key) for addon, key in METRICS_KEYS.items()},
    }
    return {addon: switches[addon] for addon in config.installed_addons if addon in switches}


@validator(
    phase=Phase.EXISTING_RESOURCES,
    row="the EKS cluster has an add-on of `operators` or `observability` already; warns where an "
    "existing one lacks an add-on that another one needs, such as cert-manager",
    source="[HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html)",
    reads=["cloudformation:ListStackResources", "eks:DescribeCluster", "eks:ListAddons"],
)
def operators(config: Config, target: Target) -> Iterator[Problem]:
    """Find add-ons that others have installed, of which CloudFormation takes none over."""
    eks, name = target.client("eks"), config.eks_cluster_name
    made = _made(config)
    if not made or answer_of(eks.describe_cluster, name=name) is None:
        return
    there = {*listed(eks, "list_addons", "addons", clusterName=name)}
    kinds: tuple[StackKind, ...] = ("operators", "observability")
    ours = {
        identifier.partition("|")[2]
        for kind in kinds
        for identifier in resources_of(
            stack_name(config, kind), target.client, resource_type="AWS::EKS::Addon"
        )
    }
    command = f"aws eks list-addons --cluster-name {name}"
    for addon, path in made.items():
        if addon in there - ours:
            message = (
                f"would install {addon}, which {name} has already, and CloudFormation takes none "
                f"over; switch it off, or run `aws eks delete-addon --cluster-name {name} "
                f"--addon-name {addon} --preserve`"
            )
            yield problem(path, True, message, command=command)
    wanted = {*config.installed_addons, *there}
    for needed in OPERATOR_ADDONS:
        users = [addon for addon in config.operators.addons if needed.key in addon.needs]
        if users and needed.name not in wanted:
            message = (
                f"leaves out what {name} does not have as an EKS add-on either; unless it has "
                f"{needed.name} in another way, set it to true: operators.{users[0].key} needs it"
            )
            yield problem(
                ("operators", needed.key),
                False,
                message,
                command=command,
                severity=Severity.WARNING,
            )
