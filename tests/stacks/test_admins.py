"""Who has admin access to the Kubernetes cluster, and what becomes of it when the list changes."""

from collections.abc import Sequence

import pytest

from hyperpod_cdk import Config
from tests.conftest import Assemble, Configure
from tests.support.template_view import TemplateView

ADMIN, USER, OTHER = (
    f"arn:aws:iam::111122223333:{name}" for name in ("role/Admin", "user/Eve", "role/team/Admin")
)


def entries(assemble: Assemble, configure: Configure, admins: Sequence[str]) -> dict[str, str]:
    """Return the logical id of the access entry of each admin."""
    config = configure({"eks": {"admins": list(admins)}})
    view = TemplateView(assemble(config).templates()["ml-platform"])
    found = {
        view.text(view.resources[name]["Properties"]["PrincipalArn"]): name
        for name in view.ids("AWS::EKS::AccessEntry")
    }
    return {arn: name for arn, name in found.items() if arn.startswith("arn:")}


@pytest.mark.parametrize(
    "changed", [[USER], [USER, ADMIN], [OTHER, ADMIN, USER]], ids=["removed", "swapped", "added"]
)
def test_an_admin_keeps_its_access_entry_whoever_else_is_listed(
    assemble: Assemble, configure: Configure, changed: list[str]
) -> None:
    # CloudFormation creates the entry of a new logical id before it deletes that of an old one,
    # and EKS takes a principal once.
    before = entries(assemble, configure, [ADMIN, USER])
    after = entries(assemble, configure, changed)

    assert before.keys() == {ADMIN, USER}
    assert after.keys() == set(changed)
    assert {arn: after[arn] for arn in after.keys() & before.keys()} == {
        arn: before[arn] for arn in after.keys() & before.keys()
    }
    assert len(set(after.values())) == len(changed)


def test_the_platform_says_how_to_grant_access(default_config: Config, assemble: Assemble) -> None:
    view = TemplateView(assemble(default_config).templates()["ml-platform"])

    commands = view.text(view.outputs["GrantAdminCommand"]["Value"]).split(" && ")

    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    entry = "--cluster-name <AWS::EKS::Cluster> --region us-west-2 --principal-arn PRINCIPAL_ARN"
    assert commands == [
        f"aws eks create-access-entry {entry}",
        f"aws eks associate-access-policy {entry} --policy-arn {policy} "
        "--access-scope type=cluster",
    ]
