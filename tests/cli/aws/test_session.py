"""The sessions of AWS."""

from pathlib import Path

import pytest

from hyperpod_cli.aws.session import AwsSession


@pytest.mark.parametrize("mfa", [True, False])
def test_the_code_of_an_mfa_device_is_typed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mfa: bool
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile mine]\n" + "mfa_serial = arn:aws:iam::1:mfa/me\n" * mfa)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    session = AwsSession(region="us-west-2")
    session.profile.set_credentials("key", "secret", "token")

    environment = session.cli_environment()

    assert environment.get("AWS_ACCESS_KEY_ID") == ("key" if mfa else None)
    assert environment.get("AWS_SESSION_TOKEN") == ("token" if mfa else None)
    assert environment.get("AWS_PROFILE") == (None if mfa else "mine")


def test_all_clients_have_the_credentials_of_the_profile() -> None:
    session = AwsSession(region="us-west-2")
    session.profile.set_credentials("key", "secret", "token")

    credentials = session.session.get_credentials()
    assert credentials is not None and credentials.access_key == "key"
    attempts = {
        client.meta.config.retries["total_max_attempts"]
        for client in (
            session.client("s3"),
            session.polling_client("s3"),
            session.writing_client("s3"),
        )
    }
    assert attempts == {1, 3, 4}
