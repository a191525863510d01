"""The condition key aws:PrincipalArn."""

from typing import Any

from emulator.aws.ministack import EvalContext, iam, iam_evaluator

_SESSION = ":assumed-role/"


def install() -> None:
    """Let the key of a role's session be the ARN of the role, path included, as in AWS.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-principalarn
    """
    resolve = iam_evaluator.resolve_condition_key

    def resolve_role(key: str, context: EvalContext) -> Any:  # noqa: ANN401 - any key
        value = resolve(key, context)
        if key.lower() != "aws:principalarn" or _SESSION not in value:
            return value
        record = iam.roles.get(value.partition(_SESSION)[2].partition("/")[0])
        return value if record is None else record["Arn"]

    iam_evaluator.resolve_condition_key = resolve_role
