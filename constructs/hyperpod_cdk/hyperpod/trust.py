"""Who may make a service use a role of the HyperPod cluster."""

from typing import Final

from aws_cdk import Aws

# HyperPod is not documented to send the account that it acts for, and none of AWS's own templates
# asks for it; without `IfExists` a missing key would deny every call. Where it is sent, another
# account cannot make the service use the role.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html
SOURCE_ACCOUNT_IF_SENT: Final = {"StringEqualsIfExists": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
