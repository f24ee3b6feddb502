import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.text.content_type import Kind
from dedup_lib.text.document import DocumentText
from dedup_lib.text.guard.wire import (
    HEADER,
    PageRequest,
    WireError,
    pack,
    pack_requests,
    result_of,
    result_values,
    sizes,
    unpack,
    unpack_requests,
)
from dedup_lib.text.page import PageContent, PageRefused, Refusal

TEXTS = st.text(st.characters())  # lone surrogates included
REQUESTS = st.builds(PageRequest, st.binary(), st.sampled_from(Kind), st.none() | TEXTS)
CONTENTS = st.builds(PageContent, TEXTS, TEXTS, st.none() | TEXTS, st.lists(TEXTS))
RESULTS = st.builds(DocumentText, CONTENTS, TEXTS, TEXTS) | st.builds(PageRefused, st.sampled_from(Refusal), TEXTS)


def received(buffers):
    """The values and bodies of a message, as the other end takes it apart."""
    data = b"".join(buffers)
    values, bodies = sizes(data)
    assert len(data) == HEADER.size + values + bodies
    return unpack(data[HEADER.size : HEADER.size + values]), memoryview(data)[HEADER.size + values :]


@given(st.lists(REQUESTS))
def test_requests_come_back(requests):
    assert unpack_requests(*received(pack_requests(requests))) == requests


@given(st.lists(RESULTS))
def test_results_come_back(results):
    values, _ = received(pack([result_values(result) for result in results]))
    found = [result_of(value) for value in values]
    assert found == results
    for one, other in zip(found, results, strict=True):
        assert type(one) is type(other)
        if isinstance(one, DocumentText):
            for field in dataclasses.fields(PageContent):
                assert type(getattr(one.content, field.name)) is type(getattr(other.content, field.name))


@given(st.binary(min_size=HEADER.size))
def test_bytes_that_are_no_message_are_an_error_and_nothing_else(data):
    with pytest.raises(WireError):
        sizes(b"\0" + data)


@given(st.none() | st.integers() | TEXTS | st.lists(st.integers() | TEXTS | st.tuples(st.integers(), TEXTS)))
def test_values_that_are_no_result_are_an_error_and_nothing_else(values):
    with pytest.raises(WireError):
        result_of(values)
