"""AWS managed policies that a HyperPod platform attaches and MiniStack does not know."""

import json

from emulator.aws.ministack import iam

_CLUSTER_INSTANCE_ROLE = "AmazonSageMakerClusterInstanceRolePolicy"
_LOG_GROUPS = "arn:aws:logs:*:*:log-group:/aws/sagemaker/Clusters/*"
_DOCUMENTS: dict[str, list[dict[str, object]]] = {
    _CLUSTER_INSTANCE_ROLE: [
        {
            "Effect": "Allow",
            "Action": ["logs:PutLogEvents", "logs:CreateLogStream", "logs:DescribeLogStreams"],
            "Resource": f"{_LOG_GROUPS}:log-stream:*",
        },
        {"Effect": "Allow", "Action": "logs:CreateLogGroup", "Resource": _LOG_GROUPS},
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}},
        },
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket", "s3:GetObject"],
            # AWS adds "in the role's own account"; this AWS has no other account's buckets, and no
            # policy variables to say it with.
            "Resource": "arn:aws:s3:::sagemaker-*",
        },
        {
            "Effect": "Allow",
            "Action": [
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            "Resource": "*",
        },
    ],
}


def install() -> None:
    """Add the policies. MiniStack refuses to attach one it does not know, as AWS does."""
    for name, statements in _DOCUMENTS.items():
        arn = f"{iam.AWS_MANAGED_POLICY_PREFIX}{name}"
        if arn not in iam.aws_managed_policies:
            document = json.dumps({"Version": "2012-10-17", "Statement": statements})
            iam.aws_managed_policies[arn] = iam.make_aws_managed_record(name, document)
