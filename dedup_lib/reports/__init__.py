"""What came of a run and what a store holds, to read."""

from dedup_lib.reports.funnel import funnel_closes, render_funnel
from dedup_lib.reports.outputs import render_outputs
from dedup_lib.reports.status import render_status, status_json

__all__ = ["funnel_closes", "render_funnel", "render_outputs", "render_status", "status_json"]
