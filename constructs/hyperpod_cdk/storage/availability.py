"""When the file system can be mounted, and under which names."""

from constructs import Construct

from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.acknowledge import acknowledge, wildcard_nag_id
from hyperpod_cdk.synthesis.statements import statement


class FileSystemAvailability(Construct):
    """Waits until a file system can be mounted.

    CloudFormation waits for that too, except in express mode; nor does it say then which attributes
    of a file system it knows.

    Args:
        file_system_id: The file system's ID.
        provisioner: Asks FSx.

    Attributes:
        dns_name: The file system's DNS name; resolves once it can be mounted.
        mount_name: The mount name of a Lustre file system; resolves once it can be mounted.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system_id: str,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                statement(
                    self,
                    sid="DescribeFileSystem",
                    why=(
                        "It asks whether the file system can be mounted, and under which names. "
                        "AWS takes no resource for this."
                    ),
                    actions=["fsx:DescribeFileSystems"],
                    resources=["*"],
                )
            ],
        )
        acknowledge(
            access,
            {wildcard_nag_id(self, "*"): "It only reads, and AWS takes no resource for it."},
        )
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::FileSystemAvailability",
            properties={"FileSystemId": file_system_id},
            depends_on=[access],
        )
        self.dns_name = resource.get_att_string("DnsName")
        self.mount_name = resource.get_att_string("MountName")
