"""The query of a canonical URL: parameters dropped by the rules, the rest sorted by name."""

from dedup_lib.urls.parameters import KEEP, HostParameters, Order, Verdict, bare_name
from dedup_lib.urls.trace import Fired, Trace


def clean_query(query: str, parameters: HostParameters, trace: Trace | None = None) -> str:
    """The query (already respelled) without empty pieces and dropped parameters, stably sorted by name in byte order.

    Only `&` separates. Blank values, repeated names and the order of their values stay (URLSearchParams.sort). Pages of
    one site repeat the same lists of names, so the order found for a list is remembered where values play no part.
    """
    pieces = query.split("&")
    names = tuple([piece.partition("=")[0] for piece in pieces])
    order = parameters.orders.get(names) if trace is None else None
    if order is None:
        order = _order(pieces, names, parameters, trace)
    return query if order is parameters.unchanged else "&".join([pieces[index] for index in order])


def _order(pieces: list[str], names: tuple[str, ...], parameters: HostParameters, trace: Trace | None) -> Order:
    """The indices of the pieces that stay, in their new order; remembered if it follows from the names alone."""
    kept = []
    present: frozenset[str] = frozenset()
    by_names_alone = "" not in names  # an empty piece and one that starts with = have the same name
    verdicts = parameters.verdicts
    for index, name in enumerate(names):
        verdict = verdicts.get(name) or parameters.judge(name)
        if verdict is KEEP:
            if name or pieces[index]:
                kept.append(index)
            elif trace is not None:
                trace.append(Fired("empty piece of the query", "&", ""))
            continue
        by_names_alone = by_names_alone and verdict.by_name_alone
        if verdict.partners and not present:
            present = frozenset(map(bare_name, names))
        if not (verdict.by_name_alone or _holds(verdict, pieces[index], present)):
            kept.append(index)
        elif trace is not None:
            trace.append(Fired(verdict.rule, pieces[index], "", verdict.scope))
    ordered = sorted(kept, key=names.__getitem__)
    if trace is not None and ordered != kept:
        trace.append(Fired("parameter order", _joined(pieces, kept), _joined(pieces, ordered)))
    order = parameters.unchanged if len(kept) == len(names) and ordered == kept else tuple(ordered)
    if by_names_alone:
        parameters.remember(names, order)
    return order


def _joined(pieces: list[str], order: list[int]) -> str:
    return "&".join(pieces[index] for index in order)


def _holds(verdict: Verdict, piece: str, present: frozenset[str]) -> bool:
    """Whether the conditions of a verdict hold: the shape of the value, the presence of other names."""
    if verdict.value_matches is not None and not verdict.value_matches(piece.partition("=")[2]):
        return False
    return verdict.partners <= present


def key_query(query: str) -> str:
    """The query as it stands in the key: `+` and `%20` are one (a space in a form), and sorted again if need be.

    >>> key_query("q=a+b")
    'q=a%20b'
    """
    folded = query.replace("+", "%20")
    return "&".join(sorted(folded.split("&"), key=lambda piece: piece.partition("=")[0])) if "&" in folded else folded
