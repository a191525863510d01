"""The least policies with which a configuration is deployed, updated and destroyed."""

READS = (
    "iam:GetPolicy",
    "iam:GetPolicyVersion",
    "iam:GetRole",
    "iam:GetRolePolicy",
    "iam:ListAttachedRolePolicies",
    "iam:ListRolePolicies",
)
"""The IAM actions of `role_policies`; here, so that commands register without importing it."""
