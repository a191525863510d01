"""The ways out of the network."""

from hyperpod_cli.inspect.preflight.existing_network import (
    ANYWHERE,
    WayOut,
    route_table_of,
    unserved,
    way_out,
)
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.NETWORK, iam=["ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints"])
def routes(deployment: LiveDeployment) -> Checks:
    """Nodes have an active route out; a closed network has none, and each service its endpoint."""
    if deployment.config.network.closed:
        yield from _endpoints(deployment)
        return
    tables = deployment.vpc.members("route table").values()
    subnets = deployment.outputs_of("platform")["OutputPrivateSubnetIds"].split(",")
    ways = {subnet: way_out(route_table_of(subnet, tables)) for subnet in subnets}
    wrong = [f"{subnet}: {way.value}" for subnet, way in ways.items() if way is not WayOut.OPEN]
    yield checked(
        f"aws ec2 describe-route-tables: an active route to {ANYWHERE} from {', '.join(subnets)}",
        problem=wrong,
        advice="Nodes there, which have private addresses, fetch neither images nor scripts, and "
        "never join: route them to a NAT gateway, a transit gateway or a firewall",
    )


def _endpoints(deployment: LiveDeployment) -> Checks:
    vpc = deployment.vpc
    anywhere = [
        table["RouteTableId"]
        for table in vpc.members("route table").values()
        for route in table["Routes"]
        if route.get("DestinationCidrBlock") == ANYWHERE
    ]
    yield checked(
        "nothing routes to the internet",
        problem=f"{', '.join(anywhere)} does" if anywhere else None,
        advice="Remove the route that was added, or set network.closed to false",
    )
    missing = unserved(deployment.config, vpc)
    yield checked(
        "VPC endpoints of all services are available",
        problem=f"{', '.join(missing)} has none" if missing else None,
        advice="Deploy the platform stack again, which makes them (docs: closed-network)",
    )
