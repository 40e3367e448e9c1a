"""Where offsets come from: synthetic models, point clouds, files."""
