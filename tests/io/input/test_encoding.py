import pytest

from gnnsync.errors import DataFileError, ParameterError
from gnnsync.io.input.encoding import check_encoding

TEXT = "Zürich,Genève,0.5\nGenève,Bern,1.25\n"
NAMES = ("Zürich", "Genève", "Bern")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_its_mark_is_read(read_text, encoding):
    assert read_text(TEXT.encode(encoding)).node_names == NAMES


def test_utf_16_of_either_order(read_text):
    assert read_text("\ufeff".encode("utf-16-be") + TEXT.encode("utf-16-be")).node_names == NAMES
    assert read_text("\ufeff".encode("utf-16-le") + TEXT.encode("utf-16-le")).node_names == NAMES


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16-be"])
def test_others_are_named_with_the_option_that_reads_them(read_text, encoding):
    option = encoding if encoding.startswith("utf") else "latin-1"
    with pytest.raises(DataFileError, match=f"add --encoding {option}"):
        read_text(TEXT.encode(encoding))
    assert read_text(TEXT.encode(encoding), encoding=option).node_names == NAMES


def test_the_line_of_a_wrong_byte_is_stated(read_text):
    with pytest.raises(DataFileError, match=r"line 3: .* \(byte 0xe9\)"):
        read_text(b"a,b,1\nb,c,2\nc,\xe9,1\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04" + bytes(100), "Excel workbook"),
        (b"PAR1" + bytes(100), "--format parquet"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "binary"),
        (b"a,b,1\n\x80\x81\x01\x02", "binary"),
        (bytes(100), "binary"),
    ],
)
def test_other_kinds_of_files_are_named(read_text, content, words):
    with pytest.raises(DataFileError, match=words):
        read_text(content)


@pytest.mark.parametrize("name", ["klingon", "base64", "rot13", "", 3])
def test_what_is_no_encoding_is_refused(name):
    with pytest.raises(ParameterError, match="must be an encoding of text"):
        check_encoding(name)


def test_the_wrong_encoding_is_named(read_text):
    with pytest.raises(DataFileError, match=r"is not text in ascii .*: add --encoding"):
        read_text(TEXT, encoding="ascii")
    with pytest.raises(ParameterError, match="used with text, not with npz"):
        read_text(b"", "npz", encoding="latin-1")
