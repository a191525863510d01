"""The rule with which CloudFormation refuses templates that have a placeholder for their chart."""

from aws_cdk import CfnParameter, CfnRule, CfnRuleAssertion, Fn
from constructs import Construct

from hyperpod_cdk.helm.chart.placeholder import TO_PACKAGE


class PlaceholderRule(Construct):
    """A rule with which CloudFormation refuses the template before it touches anything.

    It compares a parameter with another value, as CloudFormation documents rules for parameters.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        chart = CfnParameter(
            self,
            "Resource",
            default="not packaged",
            description="The chart of the HyperPod dependencies. Pass no value.",
        )
        CfnRule(
            self,
            "Packaged",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_equals(chart.value_as_string, "packaged"),
                    assert_description=(
                        f"helm.chart: the official chart is not packaged, so nothing is deployed: "
                        f"{TO_PACKAGE}"
                    ),
                )
            ],
        )
