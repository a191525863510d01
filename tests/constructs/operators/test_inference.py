"""What the inference operator gets: roles for its service accounts alone, and a bucket."""

import json
from typing import Any

from hyperpod_cdk import load_config
from tests.conftest import Assemble
from tests.support.configs import EXISTING_CONTROL_PLANE
from tests.support.template_view import TemplateView

SWITCHES = ("cert_manager", "metrics_server", "s3_csi_driver", "inference_operator")


def trusts(seen: TemplateView) -> dict[str, tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Return the statements of each trust policy that is a text, and its values, by account."""
    found = {}
    for role in seen.all("AWS::IAM::Role"):
        match role["AssumeRolePolicyDocument"]:
            case {"Fn::Sub": [str(document), values]}:
                statements = json.loads(document)["Statement"]
                subject = statements[0]["Condition"]["StringEquals"]["${Issuer}:sub"]
                found[subject.rpartition(":")[2]] = (statements, values)
            case _:
                pass
    return found


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
