"""What lists things of AWS reads every page, or names what it wants: accounts have thousands."""

import ast
from collections.abc import Iterator

import botocore.session
import pytest
from botocore import xform_name

from tests.support.configs import REPOSITORY

TOKENS = {"ContinuationToken", "Marker", "NextToken", "PaginationToken", "nextToken"}
# Of one resource, or of a few by their IDs.
NAMED = ("Id", "Ids", "Identifier", "imageIds", "StackName")
ENOUGH = {
    # Of an exact name, which is the first that has itself as a prefix.
    ("describe_log_groups", "logGroupNamePrefix"),
    ("list_objects_v2", "Prefix"),
    # A resource has 50 tags at most, and a file system 8 links.
    ("list_tags", "ResourceArn"),
    ("describe_data_repository_associations", "Filters"),
    # The newest ones, or whether there are any.
    ("list_cluster_events", "MaxResults"),
    ("list_clusters", "MaxResults"),
    # Its token is passed on by hand.
    ("list_cluster_nodes", "MaxResults"),
    ("get_log_events", ""),
    # An account has one instance of IAM Identity Center.
    ("list_instances", ""),
}


@pytest.fixture(scope="module")
def paged() -> set[str]:
    """The methods of clients that answer in pages."""
    session = botocore.session.get_session()
    services = "cloudformation ec2 ecr eks fsx iam logs rds s3 sagemaker ssm sso-admin"
    models = [session.get_service_model(service) for service in services.split(" ")]
    return {
        xform_name(name)
        for model in models
        for name in model.operation_names
        if name.startswith(("Describe", "Get", "List", "Simulate"))
        and TOKENS & {*getattr(model.operation_model(name).input_shape, "members", ())}
    }


def calls() -> Iterator[tuple[str, str, list[str]]]:
    """Yield where each method is called, or passed on to be called, and with which keywords."""
    for folder in ("cli", "lambda", "shared"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(call, ast.Call):
                    keywords = [each.arg or "" for each in call.keywords]
                    for each in (call.func, *call.args):
                        if isinstance(each, ast.Attribute):
                            yield (
                                f"{path.relative_to(REPOSITORY)}:{call.lineno}",
                                each.attr,
                                keywords,
                            )


def test_every_page_is_read(paged: set[str]) -> None:
    cut_short = [
        f"{place}: {method}"
        for place, method, keywords in calls()
        if method in paged
        and not any(keyword.endswith(NAMED) for keyword in keywords)
        and not any((method, keyword) in ENOUGH for keyword in (*keywords, ""))
    ]

    assert len(paged) > 500
    assert cut_short == [], "read it with hyperpod_cli.aws.session.listed, or a paginator"
