"""From patches in frames of their own to one map: alignment, reflections, translations."""
