"""The ways out of the network."""

from collections.abc import Iterator

from hyperpod_cli.inspect.preflight.network.facts import ANYWHERE, Vpc
from hyperpod_cli.inspect.preflight.network.routes import WayOut, route_table_of, way_out
from hyperpod_cli.inspect.preflight.network.subnets import unserved
from hyperpod_cli.inspect.verification.check import Check, Deployment, checked, several


def gateways(deployment: Deployment) -> Iterator[Check]:
    """Check that each NAT gateway of a VPC of the deployment is the target of a route."""
    network = deployment.config.network
    if network.vpc_id is not None or network.closed:
        return
    used = {
        route["NatGatewayId"]
        for table in _vpc(deployment).route_tables()
        for route in table["Routes"]
        if "NatGatewayId" in route
    }
    wanted = deployment.config.network.nat_gateway_count
    yield checked(
        f"all {wanted} NAT gateways are routed to",
        problem=None if len(used) == wanted else f"{len(used)} are",
        advice="Nodes of a zone whose NAT gateway is not routed to reach neither images nor AWS: "
        "restore the route that somebody removed",
    )


def _endpoints(deployment: Deployment) -> Iterator[Check]:
    vpc = _vpc(deployment)
    anywhere = [
        table["RouteTableId"]
        for table in vpc.route_tables()
        for route in table["Routes"]
        if route.get("DestinationCidrBlock") == ANYWHERE
    ]
    yield checked(
        "nothing routes to the internet",
        problem=f"{', '.join(anywhere)} does" if anywhere else None,
        advice="Remove the route that somebody added, or set network.closed to false",
    )
    missing = unserved(deployment.config, vpc)
    yield checked(
        "VPC endpoints of all services are available",
        problem=f"{', '.join(missing)} has none" if missing else None,
        advice="Deploy the platform stack again, which makes them (docs/closed-network.md)",
    )


def routes(deployment: Deployment) -> Iterator[Check]:
    """Check that each subnet of nodes has a way out that works; a closed network has endpoints."""
    if deployment.config.network.closed:
        yield from _endpoints(deployment)
        return
    tables = _vpc(deployment).route_tables()
    subnets = deployment.outputs_of("platform")["OutputPrivateSubnetIds"].split(",")
    ways = {subnet: way_out(route_table_of(subnet, tables)) for subnet in subnets}
    wrong = [f"{subnet}: {way.value}" for subnet, way in ways.items() if way is not WayOut.OPEN]
    yield checked(
        f"aws ec2 describe-route-tables: an active route to {ANYWHERE} from {', '.join(subnets)}",
        problem=several(wrong) or None,
        advice="Nodes there, which have private addresses, fetch neither images nor scripts, and "
        "never join: route them to a NAT gateway, a transit gateway or a firewall",
    )


def _vpc(deployment: Deployment) -> Vpc:
    return Vpc(id=deployment.outputs_of("platform")["VpcId"], ec2=deployment.client("ec2"))
