"""Each benchmark runs, says what it promises to say, and compares methods that do the same."""

import json
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from signatures.reference import kernel_minima, kernel_shingles

from benchmarks import clustering, signature_growth, signature_kernel, signature_threads, url_identities
from benchmarks.peers import datasketch_minima, minima_of, numpy_minima
from benchmarks.texts import long_text, read_options, texts_of
from benchmarks.timing import best_cpu_seconds
from dedup_lib.evaluation import recall_error
from dedup_lib.sample.similarity import jaccard
from dedup_lib.signatures import Scheme, sign_texts

SMALL = ["--documents", "20", "--rounds", "1"]


def line_of(benchmark, arguments, capsys):
    """The JSON of the one line that a benchmark writes."""
    benchmark.main(arguments)
    written = capsys.readouterr().out
    assert written.count("\n") == 1
    return json.loads(written)


def test_the_kernel_is_compared_with_both_peers_at_both_widths(capsys):
    found = line_of(signature_kernel, SMALL, capsys)
    assert found["benchmark"] == "signature_kernel"
    assert found["documents"] == 20
    assert found["characters"] > found["shingles"] > 1000
    assert list(found["permutations"]) == ["112", "256"]
    for width in found["permutations"].values():
        assert list(width["per_cpu_second"]) == ["kernel", "datasketch", "numpy"]
        for speeds in width["per_cpu_second"].values():
            ratio = speeds["characters"] / speeds["shingles"]
            assert ratio == pytest.approx(found["characters"] / found["shingles"], rel=0.01)
        assert width["times_as_fast_as"]["datasketch"] > 1
        assert width["times_as_fast_as"]["numpy"] > 1


def test_texts_are_taken_from_a_file_and_made_the_same_each_time(tmp_path):
    pq.write_table(pa.table({"text": ["one two", None, "three", "four"]}), tmp_path / "texts.parquet")
    options = read_options("", [str(tmp_path / "texts.parquet"), "--documents", "3"])
    assert texts_of(options) == ["one two", "three"]
    made = texts_of(read_options("", ["--documents", "3", "--languages", "en,zh"]))
    assert made == texts_of(read_options("", ["--documents", "3", "--languages", "en,zh"]))
    assert ["的" in text for text in made] == [False, True, False]
    assert len(long_text(1000, seed=3).split()) == 1000


def test_peers_compute_the_minhash_that_the_kernel_computes():
    """NumPy's minima are the kernel's for the same shingles; with their own hashes, peers estimate as theory says."""
    scheme = Scheme()
    words = long_text(400, seed=2).split()
    shingles = kernel_shingles(" ".join(words))
    assert np.array_equal(minima_of(shingles, scheme), kernel_minima(shingles, scheme))

    pair = [" ".join(words[:300]), " ".join(words[:240] + words[300:360])]
    exact = jaccard(*pair)
    error = recall_error(np.full(scheme.permutations, exact))
    assert 0.5 < exact < 0.8
    for peer in (datasketch_minima, numpy_minima):
        one, other = peer(pair, scheme)
        assert abs(np.mean(one == other) - exact) < 4 * error
    signed = sign_texts(pa.array(pair), scheme).minhash
    assert abs(np.mean(signed[0] == signed[1]) - exact) < 4 * error


def test_other_threads_run_while_the_kernel_does(capsys):
    found = line_of(signature_threads, ["--documents", "1000", "--languages", "en", "--rounds", "1"], capsys)
    assert list(found) == [
        *("benchmark", "documents", "speedup", "cpu_ratio", "sha256_speedup", "python_speedup"),
        *("wakes", "wakes_expected"),
    ]
    assert found["wakes"] > 3
    assert all(value > 0 for name, value in found.items() if name != "benchmark")


def test_a_task_that_holds_the_interpreters_lock_lets_nobody_wake():
    numbers = [number * 7919 % 1_000_003 for number in range(300_000)]
    wakes, seconds = signature_threads.wakes_during(numbers.sort)
    assert wakes * signature_threads.NAP_SECONDS < seconds / 4
    assert seconds > 10 * signature_threads.NAP_SECONDS


def test_a_shingle_costs_the_same_in_short_texts_and_long_ones(capsys):
    found = line_of(signature_growth, ["--words", "100000", "--rounds", "3"], capsys)
    cost = found["nanoseconds_per_shingle"]
    assert list(cost) == ["100", "1000", "10000", "100000"]
    assert found["largest_over_smallest"] < 2  # anything quadratic would be a hundred times
    assert cost["100000"] < 1.5 * cost["1000"]


def test_the_cost_of_a_document_is_told_from_that_of_its_shingles():
    amounts = {100: (1000, 96_000), 1000: (100, 99_600), 100_000: (1, 99_996)}
    measured = {n: (docs, shingles, docs * 4e-6 + shingles * 6e-8) for n, (docs, shingles) in amounts.items()}
    per_document, beyond = signature_growth.split_cost(measured)
    assert per_document == pytest.approx(4e-6)
    assert list(beyond.values()) == pytest.approx([6e-8] * 3)


def test_urls_are_measured_by_column_and_method(capsys, tmp_path):
    (tmp_path / "urls.txt").write_text("http://h.example/a\nhttp://h.example/b?c=1\n")
    for arguments, columns in ((["--rows", "50"], 4), ([str(tmp_path / "urls.txt")], 1)):
        found = line_of(url_identities, arguments, capsys)["urls_per_cpu_second"]
        assert len(found) == columns
        for speeds in found.values():
            assert {"identify_column, all rules", "ada_url.normalize_url"} <= set(speeds)
            assert min(speeds.values()) > 0


def test_time_is_that_of_the_processor_the_best_of_the_rounds_and_methods_take_turns():
    turns = []
    seconds = best_cpu_seconds({"a": lambda: turns.append("a"), "sleep": lambda: time.sleep(0.05)}, rounds=3)
    assert turns == ["a"] * 4
    assert seconds["sleep"] < 0.04


def made_signatures(documents, items):
    """Items by cluster as the definition of the benchmark has them, and their signatures."""
    batch = pa.record_batch([pa.array(items, pa.int64())], names=["item"])
    (made,) = clustering.signature_maker(documents, Scheme())(iter([batch]))
    minhash = np.array([np.frombuffer(row, np.uint16) for row in made["minhash"].to_pylist()])
    return minhash, made["bands"].to_pylist()


def test_made_signatures_have_a_giant_a_hot_key_and_a_heavy_tail():
    """Members of a cluster agree as their similarity says, and items of none agree by chance alone."""
    number = 2_500
    minhash, keys = made_signatures(number, range(number))
    firsts, counts = np.unique([row[0] for row in keys], return_counts=True)
    assert 0.04 < counts.max() / number < 0.06
    hot = [item for item in range(number) if keys[item][0] == firsts[counts.argmax()]]
    unlike = (minhash[hot[:-1]] == minhash[hot[1:]]).mean(axis=1)
    assert unlike == pytest.approx(8 / 256, abs=0.02)  # the band that they share
    similarity = np.array([(minhash == row).mean(axis=1) for row in minhash])
    near = (similarity > 0.75).sum(axis=1) - 1
    giant = np.flatnonzero(similarity[near.argmax()] > 0.75)
    assert 0.04 < len(giant) / number < 0.06
    within = similarity[np.ix_(giant, giant)][np.triu_indices(len(giant), 1)]
    assert within.std() < 0.03  # a binomial share of 256: at most 0.022
    assert 0.85 - 0.01 < within.mean() < 0.98 + 0.01
    sizes = np.bincount(near + 1)
    assert 0.5 < sizes[1] / number < 0.75
    assert sum(sizes[16:150]) > 0.02 * number
    again, _ = made_signatures(number, [7, 2_499, 20])
    assert np.array_equal(again, minhash[[7, 2_499, 20]])


@pytest.mark.slow
def test_clustering_is_measured_beside_one_aggregate(spark, capsys):
    found = line_of(clustering, ["--documents", "1500", "--partitions", "1"], capsys)
    assert found["documents"] == 1500
    assert found["times_as_long"] == pytest.approx(found["cluster_seconds"] / found["aggregate_seconds"], rel=0.5)
    assert found["times_the_cpu"] > 0
    assert found["peak_bytes"] > 100 << 20
    assert 0.2 < found["removed"] / 1500 < 0.5
    assert 50 < found["largest"] < 100
