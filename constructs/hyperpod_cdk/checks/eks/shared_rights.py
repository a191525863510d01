"""Rights in the cluster that are wider than the line that gives them reads."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import matches
from hyperpod_cdk.schema.errors import Findings, warning

_DEFAULT = "default"
# https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart
_ROLES = "cluster-role-and-bindings"


def shared_rights(config: Config) -> Findings:
    """Find editors of everyone's namespace, and a chart's own roles.

    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html
    """
    for path, editors in config.editors:
        for position, pattern in enumerate(editors.namespaces):
            if [*matches(pattern, [_DEFAULT])]:
                yield warning(
                    (*path, "namespaces", position),
                    pattern,
                    "has what everyone runs who names no namespace: these editors read and change "
                    "it, its Secrets too; give each team a namespace of its own",
                )
    if _ROLES in config.helm.values:
        yield warning(
            ("helm", "values", _ROLES),
            config.helm.values[_ROLES],
            "is a component with roles for the whole cluster, beside eks.admins, viewers and "
            "editors: who makes what it is bound to has them; list people there instead",
        )
