"""`gnnsync locate`: its options, what it runs, and its summary."""
