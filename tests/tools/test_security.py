"""docs/security.md: every role and every statement, each with its reason."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import EVERY_FIELD, EXISTING_CONTROL_PLANE
from tools.security.page import ROLES, with_roles
from tools.security.roles import Reason, Role, StatementKey, read_reasons, read_roles

MARKS = "<!-- roles -->\n<!-- /roles -->\n"


@pytest.fixture
def default_roles(default_config: Config, assemble: Assemble) -> list[Role]:
    return read_roles(assemble(default_config).directory)


@pytest.fixture
def assemblies(default_config: Config, configure: Configure, assemble: Assemble) -> list[Path]:
    existing = load_config(EXISTING_CONTROL_PLANE)
    scaling = configure({"cluster": {"auto_scaling": "Karpenter"}})
    configs = [default_config, load_config(EVERY_FIELD), existing, scaling]
    return [assemble(config).directory for config in configs]


@pytest.fixture
def reasons(assemblies: list[Path]) -> list[Reason]:
    return read_reasons(assemblies)


def test_a_statement_says_what_adds_it_if_the_default_deployment_does_without_it(
    default_roles: list[Role], assemblies: list[Path], reasons: list[Reason]
) -> None:
    always = _named(default_roles)
    by_any = _named(role for assembly in assemblies for role in read_roles(assembly))

    assert always == {each.key for each in reasons if each.added_by is None}
    assert by_any == {each.key for each in reasons}
    assert {role.name for role in default_roles} == ROLES.keys()


def _named(roles: Iterable[Role]) -> set[StatementKey]:
    """Return the statements that have names, which the CDK's own have not."""
    return {each.key for role in roles for each in role.statements if ":" not in each.name}


def test_rights_from_another_stack_are_the_roles(default_roles: list[Role]) -> None:
    (provisioner,) = (role for role in default_roles if role.name == "ProvisionerRole")

    assert {"UseCluster", "ManageCluster"} <= {item.name for item in provisioner.statements}
    assert provisioner.service == "lambda.amazonaws.com"


def test_a_role_without_a_title_is_not_passed_over(
    default_roles: list[Role], reasons: list[Reason]
) -> None:
    unknown = Role(
        name="Unknown", service="s3.amazonaws.com", trust={}, managed_policies=(), statements=()
    )

    with pytest.raises(KeyError, match="Unknown"):
        with_roles(MARKS, roles=[*default_roles, unknown], reasons=reasons)


def test_a_page_without_marks_is_refused(default_roles: list[Role]) -> None:
    with pytest.raises(ValueError, match="no <!-- roles -->"):
        with_roles("# Security\n", roles=default_roles, reasons=[])
