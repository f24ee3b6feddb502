"""Inputs: archives record by record with a verdict for each file, HTTP bodies decoded, and tables of text.

reader = ArchiveReader(stream, size)
for item in reader:  # ArchiveRecord or ArchiveFault
    ...
reader.verdict
"""

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.headers import Headers
from dedup_lib.archives.http import Decoded, decode_body
from dedup_lib.archives.inputs import InputFile, expand_inputs, input_size, open_input
from dedup_lib.archives.reader import ArchiveReader, ArchiveVerdict, Verdict
from dedup_lib.archives.records import ArchiveRecord, ReadLimits
from dedup_lib.archives.splits import SplitEnds, merge_verdicts, splits_meet
from dedup_lib.archives.text_rows import TEXT_SCHEMA
from dedup_lib.archives.texts import read_texts

__all__ = [
    "TEXT_SCHEMA",
    "ArchiveFault",
    "ArchiveReader",
    "ArchiveRecord",
    "ArchiveVerdict",
    "Decoded",
    "Headers",
    "InputFile",
    "ReadLimits",
    "Reason",
    "SplitEnds",
    "Verdict",
    "decode_body",
    "expand_inputs",
    "input_size",
    "merge_verdicts",
    "open_input",
    "read_texts",
    "splits_meet",
]
