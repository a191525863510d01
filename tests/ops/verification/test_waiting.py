"""Looking again until all holds."""

from hyperpod_ops.verification.check import Check
from hyperpod_ops.verification.waiting import Clock, held


class Looks:
    """A deployment of three checks, of which one more holds at each look."""

    def __init__(self) -> None:
        self.count = 0
        self.time = 0.0
        self.said: list[str] = []

    def verify(self) -> list[Check]:
        self.count += 1
        return [Check(check=f"c{index}", ok=index < self.count) for index in range(3)]

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def held(self, *, seconds: float) -> bool:
        clock = Clock(now=lambda: self.time, sleep=self.sleep)
        checks = held(self.verify, seconds=seconds, clock=clock, say=self.said.append)
        return all(check.ok for check in checks)


def test_once() -> None:
    looks = Looks()
    assert (looks.held(seconds=0), looks.count, looks.said) == (False, 1, [])


def test_until_all_holds() -> None:
    looks = Looks()
    assert (looks.held(seconds=600), looks.count, looks.time) == (True, 3, 30.0)
    assert looks.said == ["1 of 3 hold; waiting for: c1, c2", "2 of 3 hold; waiting for: c2"]


def test_until_the_deadline() -> None:
    looks = Looks()
    assert (looks.held(seconds=20), looks.count, looks.time) == (True, 3, 20.0)
    looks = Looks()
    assert (looks.held(seconds=10), looks.count, looks.time) == (False, 2, 10.0)
