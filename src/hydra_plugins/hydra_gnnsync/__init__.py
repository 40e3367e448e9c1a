"""Launchers for `gnnsync run -m`; Hydra finds its plugins in the namespace `hydra_plugins`."""
