"""What can be made to fail while a rehearsal is kept."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from emulator.hyperpod import Faults, HyperPodApi
from rehearsal.kept_rehearsal import FAULTS, FAULTS_VARIABLE, FaultError, cause
from tests.support.configs import REPOSITORY

GROUPS = ("gpu", "cpu", "plain")
CHECKED = ("gpu", "cpu")


@pytest.fixture(scope="module")
def api() -> Iterator[HyperPodApi]:
    with HyperPodApi() as running:
        yield running


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_lasts_until_none(api: HyperPodApi, name: str) -> None:
    cause(name, group="gpu", groups=GROUPS, checked=CHECKED, api=api.url)
    assert getattr(api.service.faults, FAULTS[name]) == {"gpu"}
    assert api.service.faults != Faults()

    cause("none", group="", groups=GROUPS, checked=CHECKED, api=api.url)
    assert api.service.faults == Faults()


def test_the_next_fault_takes_the_place_of_the_last_one(api: HyperPodApi) -> None:
    cause("capacity-shortage", group="gpu", groups=GROUPS, checked=CHECKED, api=api.url)
    cause("deep-health-check-fails", group="cpu", groups=GROUPS, checked=CHECKED, api=api.url)
    assert api.service.faults == Faults(deep_health_check_failure=frozenset({"cpu"}))


@pytest.mark.parametrize(
    ("name", "group", "address", "told"),
    [
        ("capacity", "gpu", "http://127.0.0.1:9", "FAULT: 'capacity' is not a fault"),
        ("", "gpu", "http://127.0.0.1:9", "FAULT: '' is not a fault"),
        ("capacity-shortage", "", "http://127.0.0.1:9", "GROUP: is missing; name the instance"),
        (
            "capacity-shortage",
            "gpus",
            "http://127.0.0.1:9",
            "GROUP: 'gpus' is not a group of the configuration; did you mean gpu? (groups: ",
        ),
        (
            "deep-health-check-fails",
            "plain",
            "http://127.0.0.1:9",
            "GROUP: 'plain' has no deep_health_checks that could fail (groups with them: gpu, cpu)",
        ),
        ("none", "", None, f"{FAULTS_VARIABLE}: is not set; start `make rehearse KEEP=1`"),
        ("none", "", "http://127.0.0.1:9", f"{FAULTS_VARIABLE}: nothing listens at http://127"),
    ],
)
def test_what_cannot_be_caused_is_told(
    name: str, group: str, address: str | None, told: str
) -> None:
    with pytest.raises(FaultError) as refused:
        cause(name, group=group, groups=GROUPS, checked=CHECKED, api=address)
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)


def test_the_command_ends_with_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rehearsal.kept_rehearsal", "capacity-shortag", "--group", "gpu"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "FAULT: 'capacity-shortag' is not a fault; did you mean capacity-shortage? (faults: "
    )
    assert done.stderr.count("\n") == 1
