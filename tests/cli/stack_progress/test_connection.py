"""How `make deploy` and `make destroy` reach CloudFormation."""

from pathlib import Path

import botocore.session
import pytest

from hyperpod_cli.aws import connection


@pytest.mark.parametrize("mfa", [True, False])
def test_the_code_of_an_mfa_device_is_typed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mfa: bool
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile mine]\n" + "mfa_serial = arn:aws:iam::1:mfa/me\n" * mfa)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    session = botocore.session.Session()
    session.set_credentials("key", "secret", "token")

    environment = connection.cli_environment(session)

    assert environment.get("AWS_ACCESS_KEY_ID") == ("key" if mfa else None)
    assert environment.get("AWS_SESSION_TOKEN") == ("token" if mfa else None)
    assert environment.get("AWS_PROFILE") == (None if mfa else "mine")
