"""How a number of the metrics is written, in one place for every format.

Must never change a value: each function only writes one, and writes `None` as `unknown` or `none`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

UNKNOWN = "unknown"
MINUS = "\N{MINUS SIGN}"

_CLOSE = 0.1
"""Points from the margin below which an end is written with more digits, so that it can be told from the margin."""


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        return f"{0:.{digits}f}"
    return text.replace("-", MINUS)


def points(difference: float | None, margin_points: float | None = None) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.066667), points(0.0), points(-0.473829) == MINUS + "47.4"
    ('+6.7', '0.0', True)

    An end near the margin gets the digits that the decision hung on:

    >>> points(-0.049997, 5) == MINUS + "4.9997"
    True
    """
    if difference is None:
        return UNKNOWN
    near = margin_points is not None and abs(100 * difference + margin_points) < _CLOSE
    return _signed(100 * difference, 4 if near else 1)


def percent(value: float | None) -> str:
    """Write a share in per cent.

    Examples
    --------
    >>> percent(0.833333), percent(1.0), percent(None)
    ('83.3%', '100.0%', 'unknown')
    """
    return UNKNOWN if value is None else f"{100 * value:.1f}%"


def share(value: float | None) -> str:
    """Write a chosen share, such as a power, without idle digits.

    Examples
    --------
    >>> share(0.8), share(0.005)
    ('80%', '0.5%')
    """
    return UNKNOWN if value is None else f"{number(100 * value)}%"


def whole(count: int | None) -> str:
    """Write a count.

    Examples
    --------
    >>> whole(10518), whole(None)
    ('10,518', 'unknown')
    """
    return UNKNOWN if count is None else f"{count:,}"


def number(value: float | None) -> str:
    """Write a number as the metrics hold it.

    Examples
    --------
    >>> number(5), number(0.0125), number(2.5)
    ('5', '0.0125', '2.5')
    """
    return UNKNOWN if value is None else f"{value:.6f}".rstrip("0").rstrip(".")


def p_value(value: float | None) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.815326), p_value(0.000002)
    ('0.815', '< 0.001')
    """
    if value is None:
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def ratio(value: float | None) -> str:
    """Write a ratio.

    Examples
    --------
    >>> ratio(0.451234)[:4], ratio(None)
    ('0.45', 'open')
    """
    return "open" if value is None else f"{value:.2f}\N{MULTIPLICATION SIGN}"


def seconds(milliseconds: float | None) -> str:
    """Write milliseconds as seconds.

    Examples
    --------
    >>> seconds(38400), seconds(3810000)
    ('38.4 s', '3,810.0 s')
    """
    return UNKNOWN if milliseconds is None else f"{milliseconds / 1000:,.1f} s"


def kilobytes(count: int | None) -> str:
    """Write bytes as kilobytes of 1,000.

    Examples
    --------
    >>> kilobytes(41000)
    '41.0 kB'
    """
    return UNKNOWN if count is None else f"{count / 1000:,.1f} kB"


def needed(count: int | None) -> str:
    """Write a count that may be out of reach.

    Examples
    --------
    >>> needed(86), needed(None)
    ('86', 'none')
    """
    return "none" if count is None else f"{count:,}"


FORMATS: Mapping[str, Callable[..., str]] = {
    "points": points,
    "percent": percent,
    "share": share,
    "whole": whole,
    "number": number,
    "pvalue": p_value,
    "ratio": ratio,
    "seconds": seconds,
    "kilobytes": kilobytes,
    "needed": needed,
}
"""The filters of both templates."""


def interval(row: Mapping[str, Any], margin_points: float | None = None) -> str:
    """Write an interval of differences.

    Examples
    --------
    >>> interval({"low": 0.473829, "high": 0.607162})
    '+47.4 to +60.7'
    """
    return f"{points(row['low'], margin_points)} to {points(row['high'], margin_points)}"
