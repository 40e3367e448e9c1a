"""The app layer: from a config to a job, its result row and its files."""
