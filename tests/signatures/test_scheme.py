import pickle
from dataclasses import replace

import pyarrow as pa
import pytest

from dedup_lib.errors import UsageError
from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.signatures.kernels import LARGEST

CHANGES = [{"shingle_words": 4}, {"bands": 31}, {"rows": 7}, {"seed": 2}, {"minhash_bits": 32}]


def test_every_setting_shows_in_the_string_of_a_scheme():
    schemes = {str(Scheme()), *(str(replace(Scheme(), **change)) for change in CHANGES)}
    assert len(schemes) == 1 + len(CHANGES)


@pytest.mark.parametrize("change", [{"shingle_words": 4}, {"bands": 31}, {"rows": 7}, {"seed": 2}])
def test_every_setting_changes_the_band_keys(change):
    text = pa.array(["one two three four five six seven eight"])
    keys = [sign_texts(text, scheme).bands[0].tolist() for scheme in (Scheme(), replace(Scheme(), **change))]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    "change", [{"shingle_words": 0}, {"bands": 0}, {"rows": -1}, {"seed": -1}, {"seed": 2**32}, {"minhash_bits": 8}]
)
def test_settings_that_cannot_be_are_refused(change):
    with pytest.raises(UsageError, match=f"sign.{next(iter(change))}"):
        replace(Scheme(), **change)


def test_multipliers_are_odd_and_a_scheme_survives_pickling():
    scheme = Scheme()
    assert all(scheme.maps.multipliers % 2 == 1)
    assert int(LARGEST) == 2**64 - 1
    again = pickle.loads(pickle.dumps(scheme))
    assert again == scheme
    assert again.maps.offsets.tolist() == scheme.maps.offsets.tolist()
