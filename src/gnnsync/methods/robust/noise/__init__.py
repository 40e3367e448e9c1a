"""The noise model: mixture of inliers and outliers fitted by EM, and robust local search on it."""
