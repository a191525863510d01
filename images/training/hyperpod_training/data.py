"""The samples of a run: which one comes when is a function of step and seed alone."""

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.distributed as dist

from hyperpod_training.options import Options, RefusalError


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


class Tokens:
    """Files `*.npy` of token numbers, of which only what is asked for is read."""

    def __init__(self, files: list[Path], *, length: int) -> None:
        self.length = length
        self.rows = [np.load(file, mmap_mode="r").reshape(-1) for file in files]
        self.counts = [len(rows) // length for rows in self.rows]

    def __len__(self) -> int:
        return sum(self.counts)

    def __getitem__(self, number: int) -> torch.Tensor:
        for rows, count in zip(self.rows, self.counts, strict=True):
            if number < count:
                part = rows[number * self.length : (number + 1) * self.length]
                return torch.from_numpy(part.astype(np.int64))
            number -= count
        raise IndexError(number)


class Text:
    """Rows of text of the `datasets` library, as tokens: of the model, or bytes for `tiny`."""

    def __init__(self, rows: Any, *, length: int, model: Path | None) -> None:
        if model is None:
            tokenize = _bytes
        else:
            from transformers import AutoTokenizer  # noqa: PLC0415 - takes seconds

            try:
                tokenizer = AutoTokenizer.from_pretrained(model)
            except (OSError, ValueError) as error:
                raise RefusalError(f"--model {model} has no tokenizer for --dataset") from error
            end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]

            def tokenize(texts: list[str]) -> list[int]:
                return [n for ids in tokenizer(texts)["input_ids"] for n in [*ids, *end]]

        def cut(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
            numbers = tokenize(batch["text"])
            whole = len(numbers) // length * length
            return {"tokens": [numbers[i : i + length] for i in range(0, whole, length)]}

        self.rows = rows.map(cut, batched=True, remove_columns=rows.column_names)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> torch.Tensor:
        return torch.tensor(self.rows[number]["tokens"])


def _bytes(texts: list[str]) -> list[int]:
    return list("\n".join([*texts, ""]).encode())


def open_samples(options: Options, *, vocabulary: int, model: Path | None) -> Samples:
    """Opens the data set: one process of a node prepares it, and the others then find it ready.

    Raises:
        RefusalError: There is no such data set, or it has no text or not one sample.
    """
    length = options.sequence_length
    if options.dataset == "synthetic":
        return Synthetic(vocabulary=vocabulary, length=length, seed=options.seed)
    folder = Path(options.dataset)
    samples: Samples
    if arrays := sorted(folder.glob("*.npy")):
        samples = Tokens(arrays, length=length)
    else:
        # Neuron's trainer sets the processes up later.
        together, first = dist.is_initialized(), os.environ["LOCAL_RANK"] == "0"
        if together and not first:
            dist.barrier()
        samples = Text(_rows(options.dataset), length=length, model=model)
        if together and first:
            dist.barrier()
    if not len(samples):
        raise RefusalError(
            f"--dataset {options.dataset} is shorter than --sequence-length {length}"
        )
    return samples


def _rows(dataset: str) -> Any:
    import datasets  # noqa: PLC0415 - takes seconds

    datasets.disable_progress_bars()
    try:
        if (folder := Path(dataset)).is_dir():
            files = sorted(map(str, folder.glob("*.txt")))
            if not files:
                raise RefusalError(f"--dataset {dataset} has neither *.npy nor *.txt")
            return datasets.load_dataset("text", data_files=files, split="train")
        rows = datasets.load_dataset(dataset, split="train")
    except (datasets.exceptions.DatasetsError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise RefusalError(
            f"--dataset {dataset} is neither a folder, nor `synthetic`, nor to be had from"
            f" Hugging Face: {reason}"
        ) from error
    if "text" not in rows.column_names:
        raise RefusalError(f"--dataset {dataset} has no column text, but {rows.column_names}")
    return rows


class Order:
    """Each epoch goes through all samples in an order of its own."""

    def __init__(self, *, samples: Samples, options: Options, vocabulary: int) -> None:
        self.samples, self.options, self.vocabulary = samples, options, vocabulary
        self._epoch, self._order = -1, torch.empty(0)

    def _sample(self, position: int) -> torch.Tensor:
        epoch, place = divmod(position, len(self.samples))
        if epoch != self._epoch:
            random = torch.Generator().manual_seed(self.options.seed << 32 | epoch)
            self._epoch = epoch
            self._order = torch.randperm(len(self.samples), generator=random)
        sample = self.samples[int(self._order[place])]
        if (largest := int(sample.max())) >= self.vocabulary:
            raise RefusalError(
                f"--dataset {self.options.dataset} has token {largest}, and --model"
                f" {self.options.model} knows {self.vocabulary}: tokenize it for this model"
            )
        return sample

    def batches(self, *, step: int, rank: int, processes: int) -> list[torch.Tensor]:
        """Returns what one process computes in a step, in pieces of a micro-batch."""
        share = self.options.global_batch_size // processes
        first = (step - 1) * self.options.global_batch_size + rank * share
        rows = [self._sample(first + i) for i in range(share)]
        return list(torch.stack(rows).split(self.options.micro_batch_size))
