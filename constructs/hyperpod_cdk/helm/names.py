"""Names of a Helm release and of its namespace, as Helm and Kubernetes take them."""

from hyperpod_cdk.schema.limits import DNS_LABEL, DNS_SUBDOMAIN, Matching

_LONGEST_NAMESPACE = 63
# Helm keeps 10 characters of the 63 for the suffixes of what a chart creates.
# https://helm.sh/docs/chart_template_guide/getting_started/
_LONGEST_RELEASE = 53
_NAME_RULE = (
    "must be 1 to {longest} lower-case letters, digits and inner hyphens, as Kubernetes (RFC 1123) "
    "wants {noun}"
)

RELEASE_NAME = Matching(
    pattern=DNS_SUBDOMAIN,
    longest=_LONGEST_RELEASE,
    rule=_NAME_RULE.format(longest=_LONGEST_RELEASE, noun="a Helm release"),
)
NAMESPACE = Matching(
    pattern=DNS_LABEL,
    longest=_LONGEST_NAMESPACE,
    rule=_NAME_RULE.format(longest=_LONGEST_NAMESPACE, noun="a namespace"),
)
