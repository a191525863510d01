"""What a database of Slurm's accounting needs of the cluster and the network."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.cidrs import NamedCidr, outside_findings, overlap_findings
from hyperpod_cdk.schema.errors import Findings, error

_KEY = ("cluster", "slurm", "accounting")


def accounting(config: Config) -> Findings:
    """Find a database without continuous provisioning, or without room in the network.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestratorSlurmConfig.html
    https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html
    """
    section, network = config.cluster.accounting, config.network
    if section is None:
        return
    if not config.cluster.is_continuous:
        message = (
            "must be Continuous with cluster.slurm.accounting: HyperPod takes a database in no "
            "other mode"
        )
        mode = config.cluster.node_provisioning_mode
        yield error(("cluster", "node_provisioning_mode"), mode, message)
    if section.exists:
        return
    if (network.vpc_id is None) == bool(section.subnet_ids):
        message = (
            "must be left out: they are for a VPC that exists, and the deployment makes its own"
            if section.subnet_ids
            else "must list two subnets of network.vpc_id, in two zones, for the database"
        )
        yield error((*_KEY, "subnet_ids"), list(section.subnet_ids), message)
    if section.subnet_ids or network.vpc_cidr is None:
        return
    if len(section.subnet_cidrs) > len(network.availability_zone_ids or section.subnet_cidrs):
        message = (
            f"must list {len(section.subnet_cidrs)} zones for cluster.slurm.accounting: RDS wants "
            "the subnets of a database in two zones at least"
        )
        zones = list(network.availability_zone_ids or ())
        yield error(("network", "availability_zone_ids"), zones, message)
    others: list[NamedCidr] = [
        (("network", key, index), cidr)
        for key in ("public_subnet_cidrs", "eks_subnet_cidrs")
        for index, cidr in enumerate(getattr(network, key))
    ]
    others += [
        (("network", "hyperpod_subnets", index, "cidr"), each.cidr)
        for index, each in enumerate(network.hyperpod_subnets)
        if each.cidr is not None
    ]
    place = (*_KEY, "subnet_cidrs")
    named = [((*place, index), cidr) for index, cidr in enumerate(section.subnet_cidrs)]
    yield from overlap_findings(named, others=others)
    for finding in outside_findings(section.subnet_cidrs, vpc_cidr=network.vpc_cidr):
        yield finding.under(*place)
