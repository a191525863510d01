"""Helpers for tests against the emulator: clients, stacks, requests, kubectl and helm."""
