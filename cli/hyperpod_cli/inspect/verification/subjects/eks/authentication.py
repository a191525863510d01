"""How EKS authenticates."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.ACCESS, iam=["eks:DescribeCluster"])
def authentication(deployment: LiveDeployment) -> Checks:
    """EKS authenticates by access entries."""
    name = deployment.config.eks_cluster_name
    cluster = deployment.client("eks").describe_cluster(name=name)["cluster"]
    mode = cluster["accessConfig"]["authenticationMode"]
    modes = {"API", "API_AND_CONFIG_MAP"} if deployment.config.eks.is_existing else {"API"}
    yield checked(
        "EKS authentication mode has access entries",
        problem=None if mode in modes else f"is {mode}",
        advice="HyperPod needs access entries: `aws eks update-cluster-config --name "
        f"{name} --access-config authenticationMode=API_AND_CONFIG_MAP` adds them",
    )
