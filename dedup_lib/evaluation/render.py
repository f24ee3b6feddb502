"""An evaluation as text to read in a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from dedup_lib.config.banding import steepest
from dedup_lib.evaluation.agreement import Agreement
from dedup_lib.evaluation.cases import Cases, Tally
from dedup_lib.evaluation.levels import Level
from dedup_lib.evaluation.pairs import PairScores
from dedup_lib.evaluation.s_curve import Curve
from dedup_lib.evaluation.sample import SampleScores
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.evaluation.truth import Evaluation


def render_evaluation(evaluation: Evaluation) -> str:
    """The evaluation as text: what was planted and found by snapshot, recall beside the S-curve, and the verdict.

    Of several snapshots of a sample, levels are shown of all together. Examples are shown where something is wrong.
    Ends in a newline.
    """
    curve = evaluation.curve
    verified = f"verified at {curve.threshold:g}" if curve.verified else f"not verified, threshold {curve.threshold:g}"
    lines = [
        f"Evaluation against {evaluation.truth}",
        f"{curve.bands} bands of {curve.rows} rows (steepest at {steepest(curve.bands, curve.rows):.2f}), {verified}",
        *(f"Not in the store: {name}" for name in evaluation.absent),
    ]
    scores = [*evaluation.scores, *([evaluation.overall] if evaluation.overall else [])]
    samples = [score for score in scores if isinstance(score, SampleScores)]
    if samples:
        lines += ["", *_samples(samples, curve)]
    for score in scores:
        if isinstance(score, PairScores):
            lines += ["", *_pairs(score, curve)]
    if failures := evaluation.failures:
        lines += ["", f"{len(failures)} failed:", *(f"  {failure}" for failure in failures)]
    else:
        lines += ["", "Everything is as planted." if samples else "Labelled pairs are shown, not judged."]
    return "\n".join(lines) + "\n"


def _samples(scores: Sequence[SampleScores], curve: Curve) -> Iterator[str]:
    kinds = sorted({kind for score in scores for kind in score.merged_by_kind})
    rows = [
        ["documents of the truth found", *(_of(score.documents) for score in scores)],
        ["other captures clustered", *(f"{score.no_documents.count + score.unknown.count:,}" for score in scores)],
        ["planted non-duplicates merged", *(f"{score.merged.count:,}" for score in scores)],
        *([f"  {kind}", *(f"{score.merged_by_kind.get(kind, 0):,}" for score in scores)] for kind in kinds),
        *_tallies([score.relations for score in scores], ""),
        *_tallies([score.rules for score in scores], "  rule "),
        ["truncated, complete one kept", *(_of(score.truncated) for score in scores)],
        ["rightly removed", *(_of(score.removed) for score in scores)],
        *_agreements([score.agreement for score in scores]),
    ]
    yield text_table(["", *(score.name for score in scores)], rows)
    last = scores[-1]
    yield from _levels(last.levels, curve)
    lists = (last.missing, last.no_documents, last.unknown, last.merged, last.not_found, last.truncated_kept)
    titles = ("missing", "no documents", "unknown or repeated", "wrongly merged", "not found", "truncated ones kept")
    for title, cases in zip(titles, lists, strict=True):
        yield from _examples(title, cases)


def _of(tally: Tally) -> str:
    return f"{tally.found:,} of {tally.planted:,}"


def _tallies(columns: Sequence[Mapping[str, Tally]], prefix: str) -> Iterator[list[str]]:
    for name in sorted({name for column in columns for name in column}):
        yield [prefix + name, *(_of(column[name]) if name in column else "-" for column in columns)]


def _agreements(found: Sequence[Agreement]) -> list[list[str]]:
    return [
        ["pairs: precision, recall", *(f"{one.pair_precision:.4f}, {one.pair_recall:.4f}" for one in found)],
        ["B-cubed: precision, recall", *(f"{one.b_cubed_precision:.4f}, {one.b_cubed_recall:.4f}" for one in found)],
        ["adjusted Rand index", *(f"{one.adjusted_rand:.4f}" for one in found)],
    ]


def _pairs(score: PairScores, curve: Curve) -> Iterator[str]:
    yield score.name
    yield text_table(
        [],
        [
            ["labelled pairs", f"{score.pairs:,}"],
            ["  with both documents here", f"{score.judged:,}"],
            ["  duplicates", f"{score.duplicates:,}"],
            ["  in one cluster", f"{score.merged:,}"],
            ["precision", f"{score.precision:.4f}"],
            ["recall", f"{score.recall:.4f}"],
            ["F1", f"{score.f1:.4f}"],
        ],
    )
    if score.kinds:
        rows = [[kind, f"{tally.planted:,}", f"{tally.found:,}"] for kind, tally in score.kinds.items()]
        yield text_table(["kind", "pairs", "in one cluster"], rows)
    for title, cases in (("wrongly merged", score.wrongly_merged), ("missed", score.missed)):
        yield from _examples(title, cases)
    yield from _levels(score.levels, curve)


def _levels(levels: Sequence[Level], curve: Curve) -> Iterator[str]:
    if not levels:
        return
    rows = [
        [
            level.name + (" borderline" if level.borderline else ""),
            f"{level.pairs:,}",
            f"{level.found:,}",
            f"{level.recall:.4f}",
            f"{level.theory:.4f}",
            f"{level.error:.4f}",
            "-" if level.z is None else f"{level.z:+.1f}",
        ]
        for level in levels
    ]
    yield text_table(["near duplicates", "pairs", "found", "recall", "theory", "std.err", "z"], rows)
    if any(level.borderline for level in levels):
        yield f"  borderline: within {curve.borderline:g} of the threshold, shown and not judged"


def _examples(title: str, cases: Cases) -> Iterator[str]:
    if cases.count:
        yield f"  {title}: {cases.count:,}"
        yield from (f"    {example}" for example in cases.examples)
