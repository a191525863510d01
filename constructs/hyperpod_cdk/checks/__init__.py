"""Checks of a valid configuration against the service's rules and the facts of instance types.

One rule a file: a pure function from the configuration to its findings. Errors refuse the
configuration when it is loaded, warnings are shown at synth. Rules that read one section alone are
in `checks` of the section's folder.
"""

from hyperpod_cdk.checks.rules import RULES, cross_section_findings, findings

__all__ = ["RULES", "cross_section_findings", "findings"]
