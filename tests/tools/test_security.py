"""docs/security.md: every role and every statement, each with its reason."""

from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import EVERY_FIELD
from tools.security.page import with_roles
from tools.security.reasons import OPTIONS, PURPOSES
from tools.security.roles import Role, read_roles

MARKS = "<!-- roles -->\n<!-- /roles -->\n"


@pytest.fixture
def default_roles(default_config: Config, assemble: Assemble) -> list[Role]:
    return read_roles(assemble(default_config).directory)


@pytest.fixture
def all_roles(default_roles: list[Role], configure: Configure, assemble: Assemble) -> list[Role]:
    others: list[Any] = [load_config(EVERY_FIELD), configure({"cluster": SCALING})]
    more = [role for config in others for role in read_roles(assemble(config).directory)]
    return [*default_roles, *more]


SCALING = {"auto_scaling": "Karpenter"}


def test_every_statement_has_a_reason_and_every_reason_a_statement(
    default_roles: list[Role], all_roles: list[Role]
) -> None:
    found = {(role.name, item.name) for role in all_roles for item in role.statements}
    reasons = {(role, name) for role, purpose in PURPOSES.items() for name in purpose.statements}
    optional = {name for role, name in found - reasons}

    assert optional == OPTIONS.keys()
    assert reasons <= found
    assert {role.name for role in all_roles} == PURPOSES.keys()
    assert not optional & {item.name for role in default_roles for item in role.statements}


def test_rights_from_another_stack_are_the_roles(default_roles: list[Role]) -> None:
    (provisioner,) = (role for role in default_roles if role.name == "ProvisionerRole")

    assert {"UseCluster", "ManageCluster"} <= {item.name for item in provisioner.statements}
    assert provisioner.service == "lambda.amazonaws.com"


def test_a_role_without_a_reason_is_not_passed_over(default_roles: list[Role]) -> None:
    unknown = Role(
        name="Unknown", service="s3.amazonaws.com", trust={}, managed_policies=(), statements=()
    )

    with pytest.raises(KeyError, match="Unknown"):
        with_roles(MARKS, roles=[*default_roles, unknown])


def test_a_page_without_marks_is_refused(default_roles: list[Role]) -> None:
    with pytest.raises(ValueError, match="no <!-- roles -->"):
        with_roles("# Security\n", roles=default_roles)
