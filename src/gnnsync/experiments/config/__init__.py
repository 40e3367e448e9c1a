"""Configs: arguments and groups, composing and checking them, building what they name."""
