"""The noise model: mixture of inliers and uniform outliers fitted by EM, local search on it."""
