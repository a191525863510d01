"""What the inference operator gets: roles for its service accounts alone, and a bucket."""

import json
from typing import Any

import pytest

from hyperpod_cdk import load_config
from tests.conftest import Assemble
from tests.support.configs import CONFIG_FOLDER, EXISTING_CONTROL_PLANE
from tests.support.template_view import TemplateView

ROLE = "AWS::IAM::Role"
SWITCHES = ("cert_manager", "metrics_server", "s3_csi_driver", "inference_operator")
ACCOUNTS = (
    "hyperpod-inference-controller-manager",
    "aws-load-balancer-controller",
    "keda-operator",
)


@pytest.fixture(scope="module")
def templates(assemble: Assemble) -> dict[str, Any]:
    config = load_config(CONFIG_FOLDER / "examples" / "inference.yaml")
    return dict(assemble(config).templates())


@pytest.fixture(scope="module")
def seen(templates: dict[str, Any]) -> TemplateView:
    return TemplateView(templates["inference-operators"])


def trusts(seen: TemplateView) -> dict[str, tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Return the statements of each trust policy that is a text, and its values, by account."""
    found = {}
    for role in seen.all(ROLE):
        match role["AssumeRolePolicyDocument"]:
            case {"Fn::Sub": [str(document), values]}:
                statements = json.loads(document)["Statement"]
                subject = statements[0]["Condition"]["StringEquals"]["${Issuer}:sub"]
                found[subject.rpartition(":")[2]] = (statements, values)
            case _:
                pass
    return found


def test_each_role_is_for_one_service_account_of_this_cluster(seen: TemplateView) -> None:
    provider = seen.id("AWS::IAM::OIDCProvider")
    found = trusts(seen)

    assert {*found} == {*ACCOUNTS}
    for account, (statements, values) in found.items():
        pods, *others = statements
        assert pods["Principal"] == {"Federated": "${Provider}"}
        assert pods["Action"] == "sts:AssumeRoleWithWebIdentity"
        assert pods["Condition"]["StringEquals"] == {
            "${Issuer}:aud": "sts.amazonaws.com",
            "${Issuer}:sub": f"system:serviceaccount:hyperpod-inference-system:{account}",
        }
        services = [each["Principal"]["Service"] for each in others]
        assert services == (["sagemaker.amazonaws.com"] if "controller-manager" in account else [])
        assert values["Provider"] == {"Fn::GetAtt": [provider, "Arn"]} or values["Provider"] == {
            "Ref": provider
        }
        assert values["Issuer"]["Fn::Select"][0] == 1


def test_what_changes_is_tagged_or_in_the_vpc(seen: TemplateView) -> None:
    reading = ("Describe", "Get", "List", "Query")
    for _, statement in seen.statements():
        resources = statement["Resource"]
        actions = statement["Action"]
        actions = [actions] if isinstance(actions, str) else actions
        if resources == "*":
            assert all(each.partition(":")[2].startswith(reading) for each in actions), actions
    passed = seen.statement("PassOwnRole")
    assert passed["Condition"] == {
        "StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}
    }
    (vpc,) = seen.statement("OpenSecurityGroups")["Condition"]["ArnEquals"].values()
    assert ":vpc/<output " in seen.text(vpc)


def test_the_arn_of_the_cluster_is_no_export(templates: dict[str, Any]) -> None:
    parameter = TemplateView(templates["inference-hyperpod"]).one("AWS::SSM::Parameter")
    operators = templates["inference-operators"]

    assert parameter["Name"] == "hyperpod-inference-cluster-arn"
    assert parameter["Name"] in {
        each["Default"]
        for each in operators["Parameters"].values()
        if each["Type"] == "AWS::SSM::Parameter::Value<String>"
    }
    assert "inference-hyperpod:" not in json.dumps(operators)


def test_an_existing_cluster_keeps_its_provider(assemble: Assemble) -> None:
    config = load_config(EXISTING_CONTROL_PLANE)
    operators = config.operators.model_copy(update=dict.fromkeys(SWITCHES, True))
    config = config.model_copy(update={"operators": operators})
    seen = TemplateView(assemble(config).templates()["reuse-operators"])

    assert seen.ids("AWS::IAM::OIDCProvider") == []
    assert {seen.text(values["Provider"]) for _, values in trusts(seen).values()} == {
        config.eks.oidc_provider_arn
    }
    assert {seen.text(values["Issuer"]) for _, values in trusts(seen).values()} == {
        "oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"
    }
