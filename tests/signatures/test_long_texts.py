"""A document of 10 MB is signed like any other, in memory that its own size bounds."""

import subprocess
import sys

import pytest

MEASURE = """
import resource
import sys
import pyarrow as pa
from dedup_lib.signatures import Scheme, content_hashes, shingle_sets, sign_texts

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

unit, functions = sys.argv[1], {
    "sign": lambda texts: sign_texts(texts, Scheme()),
    "content": content_hashes,
    "sets": lambda texts: shingle_sets(texts, 5),
}
short = pa.array([unit * 10])
long = pa.array([unit * (10_000_000 // len(unit.encode()))])
for function in functions.values():
    function(short)
before = peak()
functions[sys.argv[2]](long)
print((peak() - before) / 10_000_000)
"""


@pytest.mark.parametrize("unit", ["word after word, line by line. ", "漢字仮名交じり文"], ids=["spaces", "no spaces"])
@pytest.mark.parametrize(("what", "most"), [("sign", 4), ("content", 3), ("sets", 12)])
def test_ten_megabytes_of_text_take_a_few_times_their_size(what, unit, most):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, unit, what], capture_output=True, text=True, check=True, timeout=120
    )
    assert float(done.stdout) < most
