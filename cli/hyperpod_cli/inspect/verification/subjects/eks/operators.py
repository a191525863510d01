"""The operators that are switched on, each with all its pods."""

from collections.abc import Iterable, Mapping

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import Kind, Workload, put_back, stored_versions

_AUTOSCALER = Workload(
    kind="deploy",
    name="cluster-autoscaler",
    namespace="kube-system",
    without="No node comes or goes without it. ",
)


@subject(phase=Phase.ADDONS, needs_kubernetes=True)
def operators(deployment: LiveDeployment) -> Checks:
    """Each operator that is on has all its pods, and its CustomResourceDefinitions exist."""
    if deployment.config.operators.cluster_autoscaler:
        yield _AUTOSCALER.check(deployment, install="Run `hyperpod-cdk deploy`, which installs it")
    for addon in deployment.config.operators.addons:
        again = put_back(deployment.config, addon.name)
        if addon.definition is not None:
            is_there = stored_versions(deployment, addon.definition) is not None
            yield checked(
                f"kubectl get crd {addon.definition}",
                problem=None if is_there else "is not installed",
                advice=addon.without + again,
            )
        of_kinds: Mapping[Kind, Iterable[str]] = {
            "deploy": addon.deployments,
            "ds": addon.daemon_sets,
        }
        for kind, names in of_kinds.items():
            for name in names:
                workload = Workload(
                    kind=kind, name=name, namespace=addon.namespace, without=addon.without
                )
                yield workload.check(deployment, install=again)
