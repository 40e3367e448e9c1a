"""Sweepers and launchers of `gnnsync run -m`; Hydra finds plugins in this namespace."""
