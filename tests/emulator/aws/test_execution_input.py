"""The input of an execution, with which CDK's provider framework hands an event to its waiter."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import client, role

MOST_INPUT_BYTES = 262_144
DEFINITION = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


@pytest.fixture(scope="module")
def states(aws: LocalAws) -> Any:  # noqa: ANN401 - a client
    return client(aws, "stepfunctions")


@pytest.fixture(scope="module")
def machine(aws: LocalAws, states: Any) -> str:  # noqa: ANN401
    trust = role("states.amazonaws.com")["Properties"]["AssumeRolePolicyDocument"]
    waiter = client(aws, "iam").create_role(
        RoleName="waiter", AssumeRolePolicyDocument=json.dumps(trust)
    )
    made = states.create_state_machine(
        name="waiter", definition=json.dumps(DEFINITION), roleArn=waiter["Role"]["Arn"]
    )
    return str(made["stateMachineArn"])


@pytest.mark.parametrize("character", ["x", "é"])
def test_limit_is_in_bytes(states: Any, machine: str, character: str) -> None:  # noqa: ANN401
    most = character * ((MOST_INPUT_BYTES - len('""')) // len(character.encode()))
    states.start_execution(stateMachineArn=machine, input=f'"{most}"')
    with pytest.raises(ClientError, match="length less than or equal to 262144") as refused:
        states.start_execution(stateMachineArn=machine, input=f'"{most}{character}"')
    assert refused.value.response["Error"]["Code"] == "ValidationException"
