"""DescribeVpcEndpointServices: the services with interface endpoints, each with its zones.

A service has endpoints in some zones of a region, and which these are is no published fact; here
EKS Pod Identity, the youngest that a closed network needs, lacks one:
https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
"""

from collections.abc import Mapping
from http import HTTPStatus

from emulator.aws.ec2.availability_zones import zones
from emulator.aws.ministack import ec2, get_region

# https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
_SERVICES = (
    "cloudformation",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "fsx",
    "kms",
    "lambda",
    "logs",
    "monitoring",
    "sagemaker.api",
    "secretsmanager",
    "ssm",
    "ssmmessages",
    "sts",
)
WITHOUT: Mapping[str, frozenset[str]] = {"eks-auth": frozenset({"usw2-az4", "use1-az3"})}
"""The zones that the local EC2 has no endpoints of a service in."""

_Answer = tuple[int, dict[str, str], bytes]


def endpoint_zones(service_name: str) -> list[str] | None:
    """Return the names of the zones of an endpoint service; None if the region has none of it.

    Args:
        service_name: Such as `com.amazonaws.us-west-2.ecr.api`.
    """
    prefix = f"com.amazonaws.{get_region()}."
    service = service_name.removeprefix(prefix)
    if service_name == service or service not in _SERVICES:
        return None
    lacking = WITHOUT.get(service, frozenset())
    return [name for name, id_ in zones(get_region()).items() if id_ not in lacking]


def _describe(query: dict[str, list[str]]) -> _Answer:
    known = [f"com.amazonaws.{get_region()}.{each}" for each in _SERVICES]
    for name in ec2.parse_member_list(query, "ServiceName"):
        if name not in known:
            # As worded in https://github.com/hashicorp/terraform-provider-aws/issues/24216.
            message = f"The Vpc Endpoint Service '{name}' does not exist"
            refusal: _Answer = ec2.error("InvalidServiceName", message, HTTPStatus.BAD_REQUEST)
            return refusal
    wanted = ec2.parse_member_list(query, "ServiceName") or known
    filtered = ec2.parse_filters(query).get("service-name", wanted)
    items = "".join(_item(name) for name in known if name in wanted and name in filtered)
    answer: _Answer = ec2.xml(
        HTTPStatus.OK,
        "DescribeVpcEndpointServicesResponse",
        f"<serviceDetailSet>{items}</serviceDetailSet>",
    )
    return answer


def _item(name: str) -> str:
    there = "".join(f"<item>{zone}</item>" for zone in endpoint_zones(name) or ())
    return (
        f"<item><serviceName>{name}</serviceName><owner>amazon</owner><serviceType><item>"
        "<serviceType>Interface</serviceType></item></serviceType>"
        f"<availabilityZoneSet>{there}</availabilityZoneSet></item>"
    )


def install() -> None:
    """Answer the operation; MiniStack lacks services, and gives each the same three zones."""
    ec2.ACTION_MAP["DescribeVpcEndpointServices"] = _describe
