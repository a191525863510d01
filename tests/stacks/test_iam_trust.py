"""Who may become which role: AWS services only, each role one."""

import pytest

from hyperpod_cdk import Config
from tests.conftest import Assemble
from tests.support.template_view import TemplateView

# Service: how many roles. The Lambda ones are the provisioner's and three of CDK's framework.
TRUSTED = {
    "eks.amazonaws.com": 1,
    "lambda.amazonaws.com": 4,
    "sagemaker.amazonaws.com": 1,
    "states.amazonaws.com": 1,
    "vpc-flow-logs.amazonaws.com": 1,
}


@pytest.fixture
def views(default_config: Config, assemble: Assemble) -> list[TemplateView]:
    return [TemplateView(template) for template in assemble(default_config).templates().values()]


def test_every_role_is_assumed_by_one_service(views: list[TemplateView]) -> None:
    found: dict[str, int] = {}
    for view in views:
        for role in view.all("AWS::IAM::Role"):
            (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
            assert statement["Action"] == "sts:AssumeRole"
            assert statement["Principal"].keys() == {"Service"}
            service = view.text(statement["Principal"]["Service"])
            found[service] = found.get(service, 0) + 1

    assert found == TRUSTED


def test_there_is_no_user_and_no_key(views: list[TemplateView]) -> None:
    kinds = {resource["Type"] for view in views for resource in view.resources.values()}

    assert not kinds & {"AWS::IAM::User", "AWS::IAM::AccessKey", "AWS::IAM::Group"}
