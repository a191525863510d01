"""A value that cannot change is refused at its line, with what it was."""

from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cli.stack_progress.fixed_values import changes, refuse_changes


@pytest.mark.parametrize(
    ("former", "wanted", "told"),
    [
        ("10.1.0.0/16", "10.2.0.0/16", "'10.2.0.0/16' cannot be changed once it is deployed: it"),
        (None, "10.2.0.0/16", "'10.2.0.0/16' cannot be changed once it is deployed: it"),
        ("10.1.0.0/16", None, "null (the default) cannot be changed once it is deployed: it"),
        ("10.1.0.0/16", "10.1.0.0/16", None),
    ],
)
def test_a_change_is_refused_with_line_key_and_former_value(
    tmp_path: Path, former: str | None, wanted: str | None, told: str | None
) -> None:
    stack = cdk.Stack(cdk.App(), "Stack", synthesizer=cdk.LegacyStackSynthesizer())
    key = ("network", "subnets", 0, "cidr")
    FixedValue(stack, "Cidr", key=key, value=wanted, reason="it is in use", instead="add one")
    template = Template.from_stack(stack).to_json()
    (name,) = template["Parameters"]
    config = tmp_path / "mine.yaml"
    config.write_text("network:\n  subnets:\n  - " + (f"cidr: {wanted}\n" if wanted else "{}\n"))
    found = [*changes(template, parameters={name: former or "none", "Other": "x"})]
    if told is None:
        assert found == []
        refuse_changes(found, config=config)
        return
    with pytest.raises(ConfigError) as refused:
        refuse_changes(found, config=config)
    was = f"'{former}'" if former else "none: leave the key out"
    assert str(refused.value) == (
        f"{config}:3: network.subnets[0].cidr: {told} is in use; restore the former value ({was}), "
        "or add one"
    )
    assert [*changes(template, parameters={})] == []
