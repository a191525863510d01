"""The rule on volumes of nodes that the deployment's key encrypts."""

from hyperpod_cdk.checks.volume_encryption import volume_encryption
from tests.support.configs import ROOT, mounts
from tests.support.rule_cases import CPU, ERROR, GPU, KEY, WARNING, Cases, config, group

_KEY = {"create_kms_key": True}
_OFF = {**_KEY, "node_volumes": False}
_ALL_OR_NOTHING = {"node_provisioning_mode": None}
_RESTRICTED = [group(GPU, index=1)]

CASES: Cases = {}
CASES[volume_encryption] = {
    "key": config(encryption=_KEY),
    "no key": config(of_cluster=_ALL_OR_NOTHING),
    "without continuous provisioning": (
        config(encryption=_KEY, of_cluster=_ALL_OR_NOTHING),
        (ERROR, "encryption.node_volumes"),
    ),
    "of other data alone": config(encryption=_OFF, of_cluster=_ALL_OR_NOTHING),
    "restricted group": (
        config(group(GPU), restricted=_RESTRICTED, encryption=_KEY),
        (WARNING, "cluster.restricted_instance_groups[0]"),
    ),
    "room for the root volume's key": config(
        group(CPU, fsx_lustre_mounts=mounts(2)), encryption={"kms_key_arn": KEY}
    ),
    "no room for the root volume's key": (
        config(group(CPU, fsx_lustre_mounts=mounts(3)), encryption={"kms_key_arn": KEY}),
        (ERROR, "cluster.instance_groups[0]"),
    ),
    "full, with a root volume": config(
        group(CPU, ebs_volumes=[ROOT, {"volume_size_gib": 100}], fsx_lustre_mounts=mounts(2)),
        encryption={"kms_key_arn": KEY},
    ),
}
