"""Quantities as text."""

ABSENT = "absent"
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count_text(value: object) -> str:
    """A count with thousands separators, a ratio with four places; text as it is, null as `none`.

    >>> count_text(1234567), count_text(0.81234), count_text(None)
    ('1,234,567', '0.8123', 'none')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4f}"
    return "none" if value is None else str(value)


def share_text(part: object, whole: object) -> str:
    """A part in percent of the whole; nothing where one is no number or the whole is 0.

    >>> share_text(1, 3), share_text(1, 0)
    ('33.3 %', '')
    """
    if isinstance(part, int | float) and isinstance(whole, int | float) and whole:
        return f"{100 * part / whole:.1f} %"
    return ""


def bytes_text(size: int) -> str:
    """Bytes in decimal units (1 kB = 1000 B), three digits.

    >>> bytes_text(999), bytes_text(123456), bytes_text(1_200_000_000)
    ('999 B', '123 kB', '1.20 GB')
    """
    amount, unit = float(size), 0
    while round(amount) >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    if unit == 0:
        return f"{size} B"
    digits = 2 if amount < 9.995 else 1 if amount < 99.95 else 0
    return f"{amount:.{digits}f} {_UNITS[unit]}"
