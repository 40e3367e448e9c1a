"""Loggers of experiment trackers: made from the config, given the results, closed."""
