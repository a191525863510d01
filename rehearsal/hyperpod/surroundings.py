"""What the simulation works with."""

from __future__ import annotations

from dataclasses import dataclass

from rehearsal.hyperpod.addresses import AddressBook
from rehearsal.hyperpod.agenda import Agenda
from rehearsal.hyperpod.faults import FaultGate
from rehearsal.hyperpod.hooks import Observer
from rehearsal.hyperpod.timings import Timings
from rehearsal.hyperpod.unknowns import Unknowns


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Shared by everything that moves clusters and nodes.

    Attributes:
        agenda: What is due when.
        timings: How long things take.
        faults: What goes wrong.
        addresses: Private addresses.
        observer: Told when nodes come and go.
        unknowns: Which answers hold where AWS gives none.
    """

    agenda: Agenda
    timings: Timings
    faults: FaultGate
    addresses: AddressBook
    observer: Observer | None
    unknowns: Unknowns
