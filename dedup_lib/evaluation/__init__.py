"""How good a result is: the S-curve, precision and recall, and a store against a truth."""

from dedup_lib.config.banding import recall_at, steepest
from dedup_lib.evaluation.agreement import Agreement, compare_clusterings
from dedup_lib.evaluation.render import render_evaluation
from dedup_lib.evaluation.s_curve import Curve, chance_of_at_most, recall_error
from dedup_lib.evaluation.truth import Evaluation, evaluate_store

__all__ = [
    "Agreement",
    "Curve",
    "Evaluation",
    "chance_of_at_most",
    "compare_clusterings",
    "evaluate_store",
    "recall_at",
    "recall_error",
    "render_evaluation",
    "steepest",
]
