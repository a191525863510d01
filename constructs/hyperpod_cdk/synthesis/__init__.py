"""What every construct uses while it is synthesized."""
