"""Speed and accuracy of gnnsync, as ratios; each module runs with `python -m`."""
