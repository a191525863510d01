"""Slurm's accounting in a database, where HyperPod takes one."""

from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.cidrs import outside_findings, overlap_findings
from hyperpod_cdk.schema.errors import Finding, error

_KEY = ("cluster", "slurm", "accounting")


def accounting(config: Config) -> Iterator[Finding]:
    """Find a database without continuous provisioning, or in subnets that the VPC does not have.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
    """
    section, network = config.accounting, config.network
    if section is None:
        return
    if not config.cluster.is_continuous:
        message = (
            "needs cluster.node_provisioning_mode: Continuous, which is set when the cluster is "
            "created"
        )
        yield error(_KEY, section.created_as, message)
    if section.exists:
        return
    if section.subnet_ids and network.vpc_id is None:
        message = "needs network.vpc_id: it is about a VPC that exists; leave it out"
        yield error((*_KEY, "subnet_ids"), list(section.subnet_ids), message)
    if section.subnet_ids:
        return
    if network.vpc_cidr is None:
        if "subnet_cidrs" not in section.model_fields_set:
            message = "is missing: name two subnets of the VPC, or give subnet_cidrs for new ones"
            yield error((*_KEY, "subnet_ids"), None, message)
        return
    own = [((index,), cidr) for index, cidr in enumerate(section.subnet_cidrs)]
    others = [
        (("network", "public_subnet_cidrs"), cidr) for cidr in network.public_subnet_cidrs
    ] + [(("network", "hyperpod_subnets"), cidr) for cidr in network.new_hyperpod_cidrs]
    for finding in (
        *outside_findings(section.subnet_cidrs, vpc_cidr=network.vpc_cidr),
        *overlap_findings(own, others=others),
    ):
        yield finding.under(*_KEY, "subnet_cidrs")
