"""Where the API's pattern is all that says what is allowed, an example says it too."""

import re
from collections.abc import Iterator

import pytest

from hyperpod_cdk import Config
from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import Section, arguments, section_in

EXAMPLE = re.compile(r" such as (\S+)")
# What the pattern allows, in words.
IN_WORDS = "(letters, digits, inner hyphens)"


def limits(section: type[Section]) -> Iterator[ApiLimits]:
    """Yield the limits of every field of a section and of those in it."""
    for field in section.model_fields.values():
        for mark in (*field.metadata, *arguments(field.annotation)):
            if isinstance(mark, ApiLimits):
                yield mark
        inner = section_in(field.annotation)
        if inner is not None:
            yield from limits(inner)


PATTERNS = {mark.shape_name: mark for mark in limits(Config) if shape(mark.shape_name).pattern}


@pytest.mark.parametrize("mark", PATTERNS.values(), ids=PATTERNS)
def test_an_example_matches(mark: ApiLimits) -> None:
    found = EXAMPLE.search(mark.noun)

    assert found is not None or mark.noun.endswith(IN_WORDS)
    assert found is None or shape(mark.shape_name).matches(found[1])


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 10
