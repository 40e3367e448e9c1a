"""Search for a more likely map: folds taken out, further starts."""
