"""The promises of docs/reliability.md as programs, one module each."""
