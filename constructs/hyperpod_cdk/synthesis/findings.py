"""Report at a construct what the rules found."""

from collections.abc import Iterable

from aws_cdk import Annotations
from constructs import IConstruct

from hyperpod_cdk.schema.errors import Finding, refuse_errors


def report(construct: IConstruct, found: Iterable[Finding]) -> None:
    """Refuse errors, and show warnings at synth.

    Args:
        construct: What the findings are about; its annotations also acknowledge warnings, by
            `hyperpod-cdk:<rule>`.
        found: Findings that name their rule.

    Raises:
        ConfigError: There is an error among them.
    """
    findings = list(found)
    refuse_errors(findings, place=construct.node.path)
    for finding in findings:
        Annotations.of(construct).add_warning_v2(f"hyperpod-cdk:{finding.rule}", str(finding))
