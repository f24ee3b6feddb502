"""The sample, written once per session and read back with warcio."""

from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest
from warcio.archiveiterator import ArchiveIterator

from dedup_lib.sample import captures as planning
from dedup_lib.sample import read_truth, write_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The summary of a sample, its truth as a list of rows, and the planned captures by record id."""
    directory = tmp_path_factory.mktemp("sample")
    planned = {}
    patch = pytest.MonkeyPatch()

    def remember():
        made = planning.captures()
        planned.update({capture.record_id: capture for found in made.values() for capture in found})
        return made

    patch.setattr("dedup_lib.sample.write.captures", remember)
    summary = write_sample(directory)
    patch.undo()
    return SimpleNamespace(
        directory=directory, summary=summary, truth=read_truth(directory).to_pylist(), planned=planned
    )


@pytest.fixture(scope="session")
def records(sample):
    """What warcio reads: per file the record types in order, and per record id of responses what it holds."""
    kinds = defaultdict(list)
    responses = {}
    for path in sample.summary.files:
        with Path(path).open("rb") as file:
            for record in ArchiveIterator(file):
                kinds[path].append(record.rec_type)
                warc = dict(record.rec_headers.headers)
                http = dict(record.http_headers.headers) if record.http_headers else {}
                body = record.content_stream().read()
                if record.rec_type in {"response", "revisit"}:
                    status = record.http_headers.get_statuscode()
                    responses[warc["WARC-Record-ID"]] = SimpleNamespace(
                        warc=warc, http=http, body=body, status=status, path=path
                    )
    return SimpleNamespace(kinds=kinds, responses=responses)
