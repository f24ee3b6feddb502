from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.archives import InputFile
from dedup_lib.stages.plan import LEAST_SPLIT_BYTES, UNKNOWN_BYTES, Split, plan_batches, plan_tasks

MIB = 1 << 20


def archives(*sizes, kind="warc"):
    return [InputFile(f"/f{number:03}", size, kind) for number, size in enumerate(sizes)]


files_of_any_size = st.lists(st.integers(-1, 3000 * MIB), max_size=30).map(lambda sizes: archives(*sizes))


@given(files_of_any_size, st.integers(LEAST_SPLIT_BYTES, 1000 * MIB), st.integers(1, 64))
def test_the_splits_of_a_file_lie_end_to_end_and_are_in_one_task_each(files, split_bytes, tasks):
    found = defaultdict(list)
    for task in plan_tasks(files, split_bytes, tasks):
        assert task
        for split in task:
            assert split.bytes <= split_bytes or split.file.bytes < 0
            found[split.file].append(split)
    assert set(found) == set(files)
    for file, splits in found.items():
        splits.sort(key=lambda split: split.start)
        assert splits[0].start == 0
        assert splits[-1].end is None
        assert [split.end for split in splits[:-1]] == [split.start for split in splits[1:]]
        assert sum(split.bytes for split in splits) == (file.bytes if file.bytes >= 0 else UNKNOWN_BYTES)


@given(files_of_any_size, st.integers(1, 4000 * MIB))
def test_batches_hold_all_files_in_their_order_and_are_large_only_for_one_file(files, commit_bytes):
    batches = plan_batches(files, commit_bytes)
    assert [file for batch in batches for file in batch] == files
    for batch in batches:
        assert len(batch) == 1 or sum(max(file.bytes, 0) for file in batch) <= commit_bytes


def test_one_large_archive_feeds_every_core():
    tasks = plan_tasks(archives(1024 * MIB), 128 * MIB, 2)
    assert [[split.bytes for split in task] for task in tasks] == [[128 * MIB]] * 8
    assert len(plan_tasks(archives(64 * MIB), 128 * MIB, 4)) == 4


def test_small_files_share_tasks_and_the_largest_start_first():
    tasks = plan_tasks(archives(*[10 * MIB] * 24, 100 * MIB), 128 * MIB, 2)
    assert [sum(split.bytes for split in task) // MIB for task in tasks] == [120, 120, 100]
    assert [len(task) for task in plan_tasks(archives(1, 2, 3, 4), 128 * MIB, 2)] == [1, 2, 1]


def test_tables_archives_of_unknown_size_and_those_to_be_read_whole_are_not_cut():
    table = archives(1024 * MIB, kind="texts")
    unknown = archives(-1)
    assert plan_tasks(table, 128 * MIB, 2) == [(Split(table[0]),)]
    assert plan_tasks(unknown, 128 * MIB, 2) == [(Split(unknown[0]),)]
    (archive,) = archives(1024 * MIB)
    assert plan_tasks([archive], 128 * MIB, 2, whole={archive.path}) == [(Split(archive),)]


def test_nothing_to_read_needs_no_task_and_no_batch():
    assert plan_tasks([], 128 * MIB, 2) == []
    assert plan_batches([], 128 * MIB) == []


def test_archives_of_unknown_size_are_spread_over_tasks_and_batches():
    files = archives(*[-1] * 1000)
    assert len(plan_tasks(files, 128 * MIB, 8)) == 1000
    assert len(plan_batches(files, 64 << 30)) == 16
