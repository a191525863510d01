"""cfn-lint inside the test process, with the repository's settings and its rules read once."""

import functools
from typing import Any

import yaml
from cfnlint.config import ConfigMixIn
from cfnlint.decode.decode import decode_str
from cfnlint.runner import Runner, run_template_by_data

from tests.support.configs import REPOSITORY

_SETTINGS = REPOSITORY / ".cfnlintrc.yaml"


@functools.lru_cache(maxsize=512)
def findings(template: str, *, region: str) -> tuple[str, ...]:
    """Return what cfn-lint says of a template's text, one line a finding."""
    decoded, unreadable = decode_str(template)
    if unreadable or decoded is None:
        return tuple(match.message for match in unreadable)
    runner = _runner(region)
    matches = run_template_by_data(decoded, runner.config, runner.rules)
    return tuple(f"line {match.linenumber}: {match.rule.id} {match.message}" for match in matches)


@functools.cache
def _runner(region: str) -> Runner:
    settings: Any = yaml.safe_load(_SETTINGS.read_text("utf-8"))
    return Runner(ConfigMixIn(regions=[region], **settings))
