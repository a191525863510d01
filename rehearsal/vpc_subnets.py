"""The VPC's subnets, looked up in the local AWS for the HyperPod API."""

from botocore.exceptions import ClientError

from rehearsal.aws_clients import AwsClients
from rehearsal.hyperpod import Caller, Subnet


class VpcSubnets:
    """Finds subnets once a local AWS is connected; until then knows none."""

    def __init__(self) -> None:
        self._clients: AwsClients | None = None

    def connect(self, clients: AwsClients) -> None:
        """Look subnets up with these clients from now on."""
        self._clients = clients

    def find(self, *, subnet_id: str, caller: Caller) -> Subnet | None:  # noqa: ARG002 - Protocol
        """Return the subnet, or None when it is not known."""
        if self._clients is None:
            return None
        try:
            found = self._clients("ec2").describe_subnets(SubnetIds=[subnet_id])["Subnets"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "InvalidSubnetID.NotFound":
                return None
            raise
        return Subnet(
            subnet_id=subnet_id,
            cidr=found[0]["CidrBlock"],
            availability_zone=found[0]["AvailabilityZone"],
            availability_zone_id=found[0]["AvailabilityZoneId"],
        )
