"""One job: its identity, running its method on all replicas, its files and its output."""
