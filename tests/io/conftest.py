import pytest

import gnnsync


@pytest.fixture
def read_text(tmp_path):
    def read(text, ending="csv", **options):
        path = tmp_path / f"file.{ending}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return gnnsync.read(path, **options)

    return read
