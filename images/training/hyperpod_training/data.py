"""The samples of a run: which one comes when is a function of step and seed alone."""

from typing import Protocol

import torch

from hyperpod_training.options import Options


class Samples(Protocol):
    """Sequences of tokens, all of one length."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> torch.Tensor: ...


class Synthetic:
    """Sequences that count up by a step of their own, so that there is something to learn."""

    def __init__(self, *, vocabulary: int, length: int, seed: int) -> None:
        self.vocabulary, self.length, self.seed = vocabulary, length, seed

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, number: int) -> torch.Tensor:
        random = torch.Generator().manual_seed(self.seed << 32 | number)
        start, stride = torch.randint(1, min(self.vocabulary, 17), (2,), generator=random)
        return (start + stride * torch.arange(self.length)) % self.vocabulary


class Order:
    """Each epoch goes through all samples in an order of its own."""

    def __init__(self, *, samples: Samples, seed: int, global_batch_size: int) -> None:
        self.samples, self.seed, self.size = samples, seed, global_batch_size
        self._epoch, self._order = -1, torch.empty(0)

    def _number(self, position: int) -> int:
        epoch, place = divmod(position, len(self.samples))
        if epoch != self._epoch:
            random = torch.Generator().manual_seed(self.seed << 32 | epoch)
            self._epoch = epoch
            self._order = torch.randperm(len(self.samples), generator=random)
        return int(self._order[place])

    def batches(
        self, *, step: int, rank: int, processes: int, micro_batch_size: int
    ) -> list[torch.Tensor]:
        """Returns what one process computes in a step, in pieces of `micro_batch_size` samples."""
        share = self.size // processes
        first = (step - 1) * self.size + rank * share
        rows = [self.samples[self._number(first + i)] for i in range(share)]
        return list(torch.stack(rows).split(micro_batch_size))


def open_samples(options: Options, *, vocabulary: int) -> Samples:
    """Opens the data set of a run."""
    return Synthetic(
        vocabulary=vocabulary, length=options.sequence_length, seed=options.seed
    )
