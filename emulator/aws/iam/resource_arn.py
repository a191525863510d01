"""On what IAM authorizes a request about a role: its ARN, path included; and a list of log groups.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
"""

import json
from collections.abc import Callable
from typing import Any

from emulator.aws.ministack import iam, iam_actions


def install() -> None:
    """Find the role that a request names, or whose rights it simulates, and the listed groups."""
    found: Callable[..., str] = iam_actions.extract_resource_arn

    def extract_resource_arn(
        service: str,
        method: str,
        path: str,
        *rest: Any,
    ) -> str:
        if service == "iam":
            _headers, _body, parameters, *_place = rest
            source = iam_actions.query_param(parameters, "PolicySourceArn")
            role = iam.roles.get(iam_actions.query_param(parameters, "RoleName") or "")
            if source or role:
                return str(source or role["Arn"])
        if service == "logs":
            headers, body, _parameters, region, account = rest
            if headers.get("x-amz-target", "").endswith(".DescribeLogGroups"):
                prefix = json.loads(body or b"{}").get("logGroupNamePrefix", "")
                # As the service names it in the words of a denial.
                return f"arn:aws:logs:{region}:{account}:log-group:{prefix}:log-stream:"
        return found(service, method, path, *rest)

    iam_actions.extract_resource_arn = extract_resource_arn
