"""What the local AWS and the deployer's policy know of the Service Authorization Reference."""

from aws_reference.action_resources import action_resources
from aws_reference.resource_schemas import schemas

# Actions of handlers that are younger than the pinned reference: they stand on every resource.
YOUNGER = {
    "ec2:CreateVpcEncryptionControl",
    "ec2:DescribeVpcEncryptionControls",
    "eks:ActivateCertificateAuthority",
    "lambda:AssociateRuntimeAlias",
    "lambda:GetFunctionScalingConfig",
    "lambda:PassCapacityProvider",
    "lambda:PutFunctionScalingConfig",
    "logs:PutBearerTokenAuthentication",
    "logs:PutLogGroupDeletionProtection",
    "s3:UpdateBucketMetadataAnnotationTableConfiguration",
    "s3files:ListMountTargets",
    "vpc-lattice:DescribeServiceNetworkVpcEndpointAssociation",
}
# Kinds of resources that no deployment has, so that the handlers' actions on them are left out.
ELSEWHERE = {
    "code signing config",  # of Lambda
    "deliverystream",
    "group",
    "instance-profile",
    "ipam-pool",
    "user",
    "vpn-gateway",
    "TableBucket",
    "Table",
}


def test_what_the_reference_does_not_know_is_younger() -> None:
    actions = {
        action
        for schema in schemas().values()
        for handler in schema.permissions.values()
        for action in handler
    }

    assert actions - action_resources().keys() == YOUNGER, (
        "an action of aws_reference/resource_schemas.json that is not in the pinned reference goes "
        "into YOUNGER once you have looked that it exists; one that is, is taken out"
    )


def test_what_is_left_out_is_done_to_other_kinds_of_resources() -> None:
    left_out = {
        kind
        for action, known in action_resources().items()
        if not known.is_possible
        for kind in known.required.keys() - {*known.kinds}
    }

    # The file systems are those of EFS.
    assert left_out == ELSEWHERE | {"file-system"}, (
        "say how the ARN of a kind is made in cli/hyperpod_cli/inspect/permissions/names.py, or "
        "name the kind in ELSEWHERE if no deployment has it"
    )
