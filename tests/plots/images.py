"""Drawing figures without a display."""

import io

import matplotlib


def image(figure):
    """The picture as an array, drawn without a display."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=40)
    target.seek(0)
    return matplotlib.image.imread(target)
