"""Whether the instances can be had."""
