"""The model of a run: named, of a folder, or made at start."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PretrainedConfig

from hyperpod_training.options import Options


def config_of(options: Options) -> PretrainedConfig:
    """Returns the model's configuration."""
    return LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=max(128, options.sequence_length),
    )


def build_tiny(options: Options) -> LlamaForCausalLM:
    """Makes the same small model in every process."""
    torch.manual_seed(options.seed)
    return LlamaForCausalLM(config_of(options))
