"""What a pod on an EKS node group gets of its node: nothing by the instance metadata."""

from hyperpod_cdk import load_config
from tests.attacks.conftest import ActAs
from tests.conftest import Assemble
from tests.support.configs import CONFIG_FOLDER

CONFIG = load_config(CONFIG_FOLDER / "examples" / "node-groups.yaml")
INTERFACE = "arn:aws:ec2:us-west-2:111122223333:network-interface/eni-1"


def test_no_pod_is_near_enough_for_the_metadata(assemble: Assemble) -> None:
    made = [
        resource["Properties"]["LaunchTemplateData"]["MetadataOptions"]
        for template in assemble(CONFIG).templates().values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::LaunchTemplate"
    ]

    assert {(each["HttpPutResponseHopLimit"], each["HttpTokens"]) for each in made} == {
        (1, "required")
    }


def test_the_role_lends_no_interface_to_another_account(act_as: ActAs) -> None:
    node = act_as(CONFIG, "NodeGroupsNodeRole")

    lent = node.decision("ec2:CreateNetworkInterfacePermission", INTERFACE)
    made = node.decision("ec2:CreateNetworkInterface", INTERFACE)

    assert (lent, made) == ("implicitDeny", "allowed")
