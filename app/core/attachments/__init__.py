"""Files that go along with a message: read, bounded, framed for the prompt. Knows no widget and no store."""

READER_FLAG = "--pdf-reader"  # a frozen program is started again with it to read a PDF
