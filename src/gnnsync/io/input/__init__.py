"""Opening files: bytes and text in bounded memory, encodings, numbers and units of offsets."""
