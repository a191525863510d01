"""The EKS cluster lacks the add-ons of the operators, and has what these need."""

from hyperpod_cdk import Config
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.observability.section import KEYS as METRICS_KEYS
from hyperpod_cdk.schema.errors import KeyPath, error, warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import addons_there
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


def _made(config: Config) -> dict[str, KeyPath]:
    """Return the switch of each add-on that the deployment installs by one."""
    switches: dict[str, KeyPath] = {
        **{addon.name: ("operators", addon.key) for addon in OPERATOR_ADDONS},
        **{addon: ("observability", key) for addon, key in METRICS_KEYS.items()},
    }
    return {addon: switches[addon] for addon in config.installed_addons if addon in switches}


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=["cloudformation:ListStackResources", "eks:DescribeCluster", "eks:ListAddons"],
)
def operators(config: Config, target: Target) -> Problems:
    """The EKS cluster already has an add-on of an operator, or lacks one that another needs (w).

    Keys: observability.cloudwatch, operators.cert_manager, operators.ebs_csi_driver

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html)
    """
    eks, name = target.client("eks"), config.eks_cluster_name
    switches = _made(config)
    if not switches or answer_of(eks.describe_cluster, name=name) is None:
        return
    there, others = addons_there(config, target, "operators", "observability")
    command = f"aws eks list-addons --cluster-name {name}"
    for addon, path in switches.items():
        if addon in others:
            message = (
                f"would install {addon}, which {name} has already, and CloudFormation takes none "
                f"over; switch it off, or run `aws eks delete-addon --cluster-name {name} "
                f"--addon-name {addon} --preserve`"
            )
            yield error(path, True, message), command
    wanted = {*config.installed_addons, *there}
    for needed in OPERATOR_ADDONS:
        users = [addon for addon in config.operators.addons if needed.key in addon.needs]
        if users and needed.name not in wanted:
            message = (
                f"leaves out what {name} does not have as an EKS add-on either; unless it has "
                f"{needed.name} in another way, set it to true: operators.{users[0].key} needs it"
            )
            yield warning(("operators", needed.key), False, message), command
