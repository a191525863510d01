"""Findings on CDK's provider framework that its users cannot fix."""

from aws_cdk import aws_lambda as lambda_
from aws_cdk import custom_resources as cr
from constructs import IConstruct

from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    managed_policy_nag_id,
    skip_checkov,
    wildcard_nag_id,
)

_FRAMEWORK_FUNCTIONS = ("framework-onEvent", "framework-isComplete", "framework-onTimeout")


def acknowledge_provider(
    provider: cr.Provider, *, on_event: lambda_.Function, is_complete: lambda_.Function
) -> None:
    """Acknowledge the findings on `provider`'s own functions and state machine."""
    framework = [provider.node.find_child(name) for name in _FRAMEWORK_FUNCTIONS]
    invoked = [
        on_event.function_arn,
        is_complete.function_arn,
        *(
            function.function_arn
            for function in framework
            if isinstance(function, lambda_.Function)
        ),
    ]
    acknowledge(
        provider,
        {
            managed_policy_nag_id("service-role/AWSLambdaBasicExecutionRole"): (
                "CDK's provider framework gives its functions this policy; it only writes logs."
            ),
            **{
                wildcard_nag_id(provider, f"{arn}:*"): (
                    "CDK's provider framework invokes the functions' versions, named by a wildcard."
                )
                for arn in invoked
            },
            wildcard_nag_id(provider, "*"): (
                "Log delivery of the provider framework's waiter: AWS takes no resource for it."
            ),
            "AwsSolutions-SF2": (
                "CDK's provider framework does not offer tracing of its waiter; its log has every "
                "step."
            ),
        },
    )
    skip_checkov(
        provider.node.find_child("waiter-state-machine"),
        resource_type="AWS::IAM::Policy",
        reasons={"CKV_AWS_111": "Log delivery of CDK's waiter: AWS takes no resource for it."},
    )


def acknowledge_environment(provisioner: IConstruct) -> None:
    """Record why no key of the user's encrypts the environment of the functions."""
    skip_checkov(
        provisioner,
        resource_type="AWS::Lambda::Function",
        reasons={"CKV_AWS_173": "Its environment holds names, no secret."},
    )


def acknowledge_functions(provisioner: IConstruct) -> None:
    """Acknowledge what does not fit functions that only CloudFormation invokes."""
    reasons = {
        ("CKV_AWS_115", "LambdaConcurrency"): (
            "CloudFormation alone invokes it; a reservation fails in new accounts."
        ),
        ("CKV_AWS_116", "LambdaDLQ"): (
            "It is invoked synchronously, so a dead-letter queue would stay empty."
        ),
        ("CKV_AWS_117", "LambdaInsideVPC"): (
            "What calls Kubernetes is placed in the VPC if the endpoint needs it; CDK's framework "
            "calls AWS APIs alone."
        ),
    }
    acknowledge(provisioner, {f"{NIST}{rule}": text for (_, rule), text in reasons.items()})
    skip_checkov(
        provisioner,
        resource_type="AWS::Lambda::Function",
        reasons={check: text for (check, _), text in reasons.items()},
    )
