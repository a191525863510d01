"""A key of one's own encrypts the volumes of nodes that Auto Scaling launches."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def node_group_volume_key(config: Config) -> Findings:
    """Find keys whose policy must let EC2 Auto Scaling use them, and is not this deployment's.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html
    """
    encryption = config.encryption
    if config.node_groups and encryption.encrypts_volumes and encryption.kms_key_arn is not None:
        yield warning(
            ("encryption", "kms_key_arn"),
            encryption.kms_key_arn,
            "encrypts the volumes of node_groups: its policy must let the role "
            "AWSServiceRoleForAutoScaling use it and create grants for EBS, or no node launches; "
            "the page node-groups of the docs has the statement",
        )
