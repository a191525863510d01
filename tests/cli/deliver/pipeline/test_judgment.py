"""What a pipeline must not do to a stack, and what whoever approves reads."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.pipeline.review import Review, is_unprotected, refusals


@cache
def template(cidr: str) -> Mapping[str, Any]:
    """Return a template with a value that cannot change, and the rule of CDK's bootstrap."""
    stack = cdk.Stack(cdk.App(), "Stack")
    cdk.CfnWaitConditionHandle(stack, "Nothing")
    FixedValue(
        stack, "Cidr", key=("cidr",), value=cidr, reason="it would be replaced", instead="add one"
    )
    document: Mapping[str, Any] = Template.from_stack(stack).to_json()
    assert len(document["Rules"]) == 2
    return document


def stack(cidr: str = "10.1.0.0/16", *, is_protected: bool = False) -> Stack:
    return Stack(
        name="ml-platform",
        template=template(cidr),
        lookup_role="arn:aws:iam::111122223333:role/lookup",
        account="111122223333",
        region="us-west-2",
        is_protected=is_protected,
    )


def deployed(
    cidr: str = "10.1.0.0/16", *, status: str = "UPDATE_COMPLETE", is_protected: bool = False
) -> Deployed:
    """Return what a deployment of a template left."""
    parameters = {name: value["Default"] for name, value in template(cidr)["Parameters"].items()}
    return Deployed(
        status=status, template=template(cidr), parameters=parameters, is_protected=is_protected
    )


def test_a_changed_value_that_cannot_change_is_refused_in_the_words_of_its_rule() -> None:
    (line,) = refusals(stack("10.2.0.0/16"), deployed("10.1.0.0/16"))

    assert line.startswith(
        "ml-platform: cidr: '10.2.0.0/16' cannot be changed once it is deployed: it would be "
        "replaced; restore the former value"
    )


@pytest.mark.parametrize(
    "find",
    [
        lambda: None,
        deployed,
        # Created before the value was fixed.
        lambda: Deployed(status="CREATE_COMPLETE", template={}, parameters={}),
    ],
)
def test_what_is_not_there_or_as_it_was_is_not_refused(
    find: Callable[[], Deployed | None],
) -> None:
    assert list(refusals(stack(), find())) == []


@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("ROLLBACK_COMPLETE", "delete-stack"),
        ("ROLLBACK_FAILED", "delete-stack"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback"),
    ],
)
def test_a_stack_that_cannot_be_updated_is_named_with_its_fix(status: str, command: str) -> None:
    (line,) = refusals(stack("10.2.0.0/16"), deployed(status=status))

    assert line.startswith(f"ml-platform: is in {status}, and CloudFormation updates it no more")
    assert line.endswith(
        f"aws cloudformation {command} --stack-name ml-platform --region us-west-2"
    )


@pytest.mark.parametrize(
    ("wanted", "protected", "lacks"),
    [(True, False, True), (True, True, False), (True, None, False), (False, False, False)],
)
def test_a_protection_that_is_lacking_is_seen(
    *, wanted: bool, protected: bool | None, lacks: bool
) -> None:
    found = None if protected is None else deployed(is_protected=protected)
    assert is_unprotected(stack(is_protected=wanted), found) is lacks


@pytest.mark.parametrize(
    ("judged", "text"),
    [
        ({}, "dev: changes nothing."),
        ({"created": ("a", "b")}, "dev: creates a, b."),
        (
            {"created": ("a",), "changed": ("b",), "broadens_permissions": True, "destroys": True},
            "dev: creates a; changes b. PERMISSIONS BROADEN. RESOURCES ARE REPLACED OR DELETED.",
        ),
        (
            {"unprotected": ("a",)},
            "dev: changes nothing. Without termination protection: a.",
        ),
    ],
)
def test_whoever_approves_reads_one_line(judged: dict[str, Any], text: str) -> None:
    defaults: dict[str, Any] = {"created": (), "changed": (), "unprotected": ()}
    flags = {"broadens_permissions": False, "destroys": False}
    assert str(Review(environment="dev", **{**defaults, **flags, **judged})) == text
