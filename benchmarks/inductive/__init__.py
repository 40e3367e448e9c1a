"""The inductive network beside the other methods: accuracy, time, memory."""
