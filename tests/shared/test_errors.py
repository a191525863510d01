"""Messages to users: one line, short, without credentials."""

import json

import pytest

from hyperpod_shared.errors import MESSAGE_LIMIT_BYTES, ProvisioningError, shortened
from hyperpod_shared.redaction import redacted, secret_values
from provisioner.framework.retry import aws_patience, retried
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error


def test_message_is_one_line_of_what_why_and_next() -> None:
    error = ProvisioningError("It broke", detail="line one\n  line two.", next_step="Fix it.")
    assert str(error) == "It broke: line one line two. Fix it."
    assert str(ProvisioningError("It broke", next_step="Fix it.")) == "It broke. Fix it."


@pytest.mark.parametrize("filler", ["x", "é", "🛰"])
def test_long_cause_keeps_what_comes_first_and_last(filler: str) -> None:
    detail = "first " + filler * 3000 + " last"
    text = str(ProvisioningError("It broke", detail=detail, next_step="Fix it."))
    assert len(text.encode()) <= MESSAGE_LIMIT_BYTES
    assert text.startswith("It broke: first")
    assert text.endswith("last. Fix it.")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("token k8s-aws-v1.aHR0cHM_-x end", "token <hidden> end"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer <hidden>"),
        ("at https://s3/x?X-Amz-Signature=1&b=2 now", "at https://s3/x?<hidden> now"),
        ("X-Amz-Security-Token=abc&x", "X-Amz-Security-Token=<hidden>&x"),
        ("Get https://abc.eks.amazonaws.com/version", "Get https://abc.eks.amazonaws.com/version"),
    ],
)
def test_credentials_are_taken_out(text: str, safe: str) -> None:
    assert redacted(text) == safe


def test_secret_values_are_those_under_secret_names() -> None:
    values = {
        "image": "public.ecr.aws/x",
        "db": {"adminPassword": "hunter2", "passwords": ["one-more"], "tokenTtl": 5},
        "apiKey": "k" * 8,
        "secrets": {"nested": {"deep": "four"}, "short": "abc"},
    }
    assert secret_values(values) == {"hunter2", "one-more", "k" * 8, "four"}


def test_secret_values_are_those_of_variables_with_secret_names() -> None:
    values = {
        "env": [
            {"name": "WANDB_TOKEN", "value": "from-env"},
            {"name": "LOG_LEVEL", "value": "debug"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "pw"}}},
        ],
        "args": [{"key": "api-key", "value": "from-args"}, {"name": 1, "value": "none"}],
    }
    assert secret_values(values) == {"from-env", "from-args"}


KEY = "-----BEGIN KEY-----\nMIIEow\n  AAKCAQ\n-----END KEY-----\n"


@pytest.mark.parametrize(
    "said",
    [
        f"cannot parse {KEY}",
        f"cannot parse {' | '.join(KEY.split())}",
        f"cannot parse {json.dumps(KEY)}",
        "line 2: cannot parse   MIIEow",
        "cannot parse " + KEY.replace("\n", "\r\n"),
    ],
)
def test_no_line_of_a_secret_reaches_a_message(said: str) -> None:
    secrets = secret_values({"tls": {"privateKey": KEY}})
    text = str(ProvisioningError("It broke", detail=said, next_step="Fix it.", secrets=secrets))
    assert "It broke: " in text
    assert "cannot parse" in text
    assert not [line for line in ("MIIEow", "AAKCAQ") if line in text]


@pytest.mark.parametrize("said", ['pass"word\\x', json.dumps('pass"word\\x')])
def test_secret_with_escaped_characters_is_hidden(said: str) -> None:
    hidden = redacted(f"cannot parse {said}", secrets=secret_values({"token": 'pass"word\\x'}))
    assert "word" not in hidden


@pytest.mark.parametrize(
    ("code", "message", "waits"),
    [
        ("ThrottlingException", "Rate exceeded", True),
        ("ProvisionedThroughputExceededException", "You exceeded the throughput", True),
        ("AccessDeniedException", "not authorized to perform iam:PassRole", True),
        ("ValidationException", "Could not assume role arn:aws:iam::1:role/x.", True),
        ("ValidationException", "Role arn:aws:iam::1:role/x does not exist", True),
        ("ValidationException", "InstanceCount must be positive", False),
        ("ResourceLimitExceeded", "quota", False),
        ("ConflictException", "busy", False),
    ],
)
def test_patience_with_errors_of_aws(code: str, message: str, waits: bool) -> None:
    assert (aws_patience(client_error(code, "X", message)) > 0) is waits


def test_retries_end_before_the_function_does() -> None:
    time = Time(lambda_seconds=60)
    calls = []

    def fail() -> None:
        calls.append(time.now)
        raise ValueError

    started = time.now
    with pytest.raises(ValueError):
        retried(fail, errors=(ValueError,), patience=lambda _: 1e9, clock=time.clock)
    assert 2 < len(calls) < 10
    assert time.now - started <= 40


def test_a_long_text_is_cut_between_words() -> None:
    text = " ".join(f"word{number:03}" for number in range(100))
    start, end = shortened(text, 100).split(" … ")
    assert {*start.split(), *end.split()} <= {*text.split()}
