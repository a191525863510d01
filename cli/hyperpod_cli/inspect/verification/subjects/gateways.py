"""The NAT gateways are in use."""

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.NETWORK, iam=["ec2:DescribeRouteTables"])
def gateways(deployment: LiveDeployment) -> Checks:
    """Each NAT gateway in the deployment's VPC is the target of a route."""
    network = deployment.config.network
    if network.vpc_id is not None or network.closed:
        return
    used = {
        route["NatGatewayId"]
        for table in deployment.vpc.members("route table").values()
        for route in table["Routes"]
        if "NatGatewayId" in route
    }
    wanted = deployment.config.network.nat_gateway_count
    yield checked(
        f"all {wanted} NAT gateways are routed to",
        problem=None if len(used) == wanted else f"{len(used)} are",
        advice="Nodes of a zone whose NAT gateway is not routed to reach neither images nor AWS: "
        "restore the route that was removed",
    )
