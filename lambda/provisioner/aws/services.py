"""The AWS services whose API models ship with the function.

Imports nothing, so that packaging can read it without boto3.
"""

SERVICES = ("cloudformation", "eks", "fsx", "s3", "sagemaker", "sts")
