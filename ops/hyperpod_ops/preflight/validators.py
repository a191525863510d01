"""The validators, in the order in which they are shown."""

from collections.abc import Mapping

from hyperpod_ops.preflight.network.cidr_blocks import cidr_blocks
from hyperpod_ops.preflight.network.gateways import gateways
from hyperpod_ops.preflight.network.security_group import security_group
from hyperpod_ops.preflight.network.subnets import subnets
from hyperpod_ops.preflight.network.vpc import vpc
from hyperpod_ops.preflight.network.zones import zones
from hyperpod_ops.preflight.validator import Validator

VALIDATORS: Mapping[str, Validator] = {
    "vpc": vpc,
    "zones": zones,
    "cidr-blocks": cidr_blocks,
    "subnets": subnets,
    "gateways": gateways,
    "security-group": security_group,
}
"""By name, which is what `--skip` takes."""
