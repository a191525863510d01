"""What looks like a secret is not in an archive."""

import json
from typing import Any

import pytest

from hyperpod_cli.inspect.archive.hiding import HIDDEN, hidden

VALUES = json.dumps({"mlflow": {"apiKey": "s3cret", "existingSecret": "name", "port": 80}})


@pytest.mark.parametrize(
    ("values", "left", "places"),
    [
        ({"Values": VALUES}, ["name", "80"], ["Values.mlflow.apiKey"]),
        ({"Env": [{"name": "API_TOKEN", "value": "s3cret"}]}, ["API_TOKEN"], ["Env.0.value"]),
        ({"Tags": [{"Key": "password", "Value": "s3cret"}]}, [], ["Tags.0.password"]),
        ({"Tags": {"token": "s3cret"}}, [], ["Tags.token"]),
        ({"MetadataOptions": {"HttpTokens": "required"}}, ["required"], []),
        ({"ServiceToken": "arn:aws:lambda:x"}, ["arn:aws:lambda:x"], []),
        ({"ServiceToken": {"Fn::ImportValue": "x"}}, ["Fn::ImportValue"], []),
        ({"Values": "{not json", "Name": "x"}, ["{not json"], []),
    ],
)
def test_it_is_hidden(values: dict[str, Any], left: list[str], places: list[str]) -> None:
    before = json.dumps(values)
    found, told = hidden(values)
    text = json.dumps(found)
    assert "s3cret" not in text
    assert (HIDDEN in text) == bool(places)
    assert all(each in text for each in left)
    assert told == places
    assert json.dumps(values) == before
    # What is deployed and what takes its place then compare as equal.
    assert hidden(found) == (found, [])
