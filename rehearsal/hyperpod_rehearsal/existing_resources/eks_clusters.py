"""An EKS cluster that a configuration names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import DAEMON_SET_ADDONS, DNS_ADDON, FSX_ADDON
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.aws.settings import OIDC_PROVIDER_ID
from hyperpod_rehearsal.existing_resources.networks import free_blocks
from hyperpod_rehearsal.existing_resources.resource import ExistingResource
from hyperpod_rehearsal.existing_resources.roles import trust

_PREFIX = 28
_ROLE = "existing-control-plane"


def _make(clients: AwsClients, config: Config) -> None:
    """Create the cluster unless it is there.

    It has the version and the endpoint that the configuration says, and what the configuration's
    operators need and the deployment does not install. It lacks what the configuration consents to
    add: access entries, and add-ons.
    """
    client, iam, eks = clients("eks"), clients("iam"), config.eks
    name = config.eks_cluster_name
    if name in client.list_clusters()["clusters"]:
        return
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_role(RoleName=_ROLE, AssumeRolePolicyDocument=trust("eks.amazonaws.com"))
    issuer = eks.oidc_provider_arn
    public = eks.endpoint_access != "private"
    client.create_cluster(
        name=name,
        version=eks.version,
        roleArn=iam.get_role(RoleName=_ROLE)["Role"]["Arn"],
        resourcesVpcConfig={
            "subnetIds": [*_subnets(clients, config.network)],
            "securityGroupIds": [config.network.security_group_id],
            "endpointPrivateAccess": eks.endpoint_access != "public",
            "endpointPublicAccess": public,
            **({"publicAccessCidrs": list(eks.public_access_cidrs)} if public else {}),
        },
        accessConfig={
            "authenticationMode": (
                "CONFIG_MAP" if eks.set_authentication_mode else "API_AND_CONFIG_MAP"
            )
        },
        tags={} if issuer is None else {OIDC_PROVIDER_ID: issuer.rpartition("/")[2]},
    )
    if issuer is not None:
        iam.create_open_id_connect_provider(
            Url=f"https://{issuer.partition('oidc-provider/')[2]}",
            ClientIDList=["sts.amazonaws.com"],
        )
    needs = {needed for addon in config.operators.addons for needed in addon.needs}
    needed = [addon.name for addon in OPERATOR_ADDONS if addon.key in needs]
    for addon in (*DAEMON_SET_ADDONS, DNS_ADDON, FSX_ADDON, *needed):
        if addon not in (*eks.addons, *config.installed_addons):
            client.create_addon(clusterName=name, addonName=addon)


def _subnets(clients: AwsClients, network: NetworkConfig) -> Iterator[str]:
    """Create a subnet in each of two zones, and yield their IDs."""
    ec2 = clients("ec2")
    taken = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [network.vpc_id]}])
    others = [subnet["CidrBlock"] for subnet in taken["Subnets"]]
    zones = ec2.describe_availability_zones()["AvailabilityZones"]
    blocks = free_blocks(network, prefix_length=_PREFIX, others=others)
    for zone, block in zip(zones[:2], itertools.islice(blocks, 2), strict=True):
        made = ec2.create_subnet(
            VpcId=network.vpc_id, CidrBlock=block, AvailabilityZone=zone["ZoneName"]
        )
        yield made["Subnet"]["SubnetId"]


def eks_clusters(config: Config) -> Iterator[ExistingResource]:
    """Yield the EKS cluster that a configuration names, if it does, in the VPC named too."""
    if config.eks.cluster_arn is not None:
        yield ExistingResource(
            f"EKS cluster {config.eks.cluster_arn}", partial(_make, config=config)
        )
