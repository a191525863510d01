"""Findings on CDK's provider framework that its users cannot fix."""

from aws_cdk import aws_lambda as lambda_
from aws_cdk import custom_resources as cr

from hyperpod_cdk.acknowledge import acknowledge, managed_policy_finding, wildcard_finding

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
            managed_policy_finding("service-role/AWSLambdaBasicExecutionRole"): (
                "CDK's provider framework gives its functions this policy; it only writes logs."
            ),
            **{
                wildcard_finding(provider, f"{arn}:*"): (
                    "CDK's provider framework invokes the functions' versions, named by a wildcard."
                )
                for arn in invoked
            },
            wildcard_finding(provider, "*"): (
                "Log delivery of the provider framework's waiter: AWS takes no resource for it."
            ),
            "AwsSolutions-SF2": (
                "CDK's provider framework does not offer tracing of its waiter; its log has every "
                "step."
            ),
        },
    )
