"""The geometry of the pictures: marks in per cent of the width, so that text keeps its size on a narrow screen.

Must never hold a number that the metrics don't, nor be the only place where a number can be read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_tasks.report import words
from eval_tasks.report.numbers import interval, number, percent, points, ratio, share, whole

Record = Mapping[str, Any]

EDGE = 3.0
"""Per cent of the width that stays free on either side."""

TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
MOST_TICKS = 5
RATIO_TICKS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)
SIZE_TICKS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Mark:
    """One SVG element: its tag, its attributes and, for text, what it says."""

    tag: str
    attributes: Mapping[str, str]
    text: str = ""


@dataclass
class Picture:
    """A picture as wide as its place and `height` pixels high."""

    label: str
    height: float = 0.0
    marks: list[Mark] = field(default_factory=list)

    def line(self, x1: float, x2: float, y1: float, y2: float, style: str) -> None:
        """Add a line; horizontal places are per cent, vertical ones pixels."""
        self._add("line", style, x1=_percent(x1), x2=_percent(x2), y1=_pixels(y1), y2=_pixels(y2))

    def box(self, x1: float, x2: float, y: float, height: float, style: str) -> None:
        """Add a rectangle between two horizontal places."""
        low, high = min(x1, x2), max(x1, x2)
        self._add("rect", style, x=_percent(low), width=_percent(high - low), y=_pixels(y), height=_pixels(height))

    def dot(self, x: float, y: float, style: str, radius: float = 5) -> None:
        """Add a round mark."""
        self._add("circle", style, cx=_percent(x), cy=_pixels(y), r=_pixels(radius))

    def say(self, x: float, y: float, text: str, style: str, anchor: str = "start") -> None:
        """Add a word or a number at its base line."""
        place = {"x": _percent(x), "y": _pixels(y), "text-anchor": anchor}
        self.marks.append(Mark("text", {"class": style, **place}, text))

    def _add(self, tag: str, style: str, **places: str) -> None:
        self.marks.append(Mark(tag, {"class": style, **places}))


def _percent(x: float) -> str:
    return f"{x:.3f}%"


def _pixels(y: float) -> str:
    return f"{y:g}"


@dataclass(frozen=True)
class Scale:
    """Where a value lies across the picture."""

    low: float
    high: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(v) if self.logarithmic else v for v in (self.low, self.high, value))
        place = (value - low) / (high - low) if high > low else 0.5
        return EDGE + (100 - 2 * EDGE) * min(1.0, max(0.0, place))


def forest(metrics: Record) -> Picture:
    """Return the forest plot: both intervals of every comparison, the margin and zero."""
    comparisons = metrics["summary"]["pairs"]
    picture = Picture(_forest_label(comparisons))
    margin = metrics["registration"]["analysis"]["marginPoints"] / 100
    scale = _difference_scale(comparisons, margin)
    blocks = [34 * (1 + len(row["additional"])) + 36 for row in comparisons]
    top, bottom = 22.0, 22.0 + sum(blocks)
    picture.box(scale(-margin), 100, top, bottom - top, "zone")
    picture.say(scale(-margin), 13, f"margin {points(-margin)}", "tick", _anchor(scale(-margin)))
    y = top
    for comparison, height in zip(comparisons, blocks, strict=True):
        _forest_block(picture, scale, comparison, y, -margin)
        y += height
    _axis(picture, scale, _ticks(scale), points, bottom)
    return picture


def _forest_label(comparisons: Sequence[Record]) -> str:
    rows = [
        f"{words.arm(row['arm'])} minus {words.arm(row['reference'])}: {points(row['delta'])} points, "
        + ", ".join(f"{words.METHODS[m['method']]} {interval(m['interval'])}" for m in (row, *row["additional"]))
        for row in comparisons
    ]
    return "Forest plot of paired differences. " + "; ".join(rows) + "."


def _difference_scale(comparisons: Sequence[Record], margin: float) -> Scale:
    ends = [0.0, -2 * margin, margin]
    for row in comparisons:
        ends += [row["interval"]["low"], row["interval"]["high"]]
        ends += [row["bounds"]["worst"]["delta"], row["bounds"]["best"]["delta"]]
    return Scale(min(ends), max(ends))


def _forest_block(picture: Picture, scale: Scale, comparison: Record, y: float, boundary: float) -> None:
    title = f"{words.arm(comparison['arm'])} {chr(0x2212)} {words.arm(comparison['reference'])}"
    picture.say(1, y + 18, title, "row")
    picture.say(99, y + 18, f"{points(comparison['delta'])} points", "row", "end")
    for rank, method in enumerate((comparison, *comparison["additional"])):
        middle = y + 26 + 34 * rank + 23
        # Only beside the bars, so that no line runs through a word.
        picture.line(scale(boundary), scale(boundary), middle - 9, middle + 9, "margin")
        picture.line(scale(0), scale(0), middle - 9, middle + 9, "zero")
        _forest_bar(picture, scale, comparison, method, middle)


def _forest_bar(picture: Picture, scale: Scale, comparison: Record, method: Record, middle: float) -> None:
    style = "primary" if method is comparison else "second"
    low, high = scale(method["interval"]["low"]), scale(method["interval"]["high"])
    note = "primary" if style == "primary" else "additional"
    text = f"{words.METHODS[method['method']]} ({note}): {interval(method['interval'])}"
    picture.say(1, middle - 12, text, "note")
    bounds = comparison["bounds"]
    picture.box(scale(bounds["worst"]["delta"]), scale(bounds["best"]["delta"]), middle - 6, 12, "bounds")
    picture.line(low, high, middle, middle, f"bar {style}")
    for end in (low, high):
        picture.line(end, end, middle - 5, middle + 5, f"bar {style}")
    picture.dot(scale(comparison["delta"]), middle, f"estimate {style}")


def _anchor(x: float) -> str:
    return "start" if x < 15 else "end" if x > 85 else "middle"


def _ticks(scale: Scale) -> list[float]:
    span = scale.high - scale.low
    step = next((step for step in TICK_STEPS if span / step <= MOST_TICKS), 0.5)
    first = math.ceil(scale.low / step)
    return [k * step for k in range(first, math.floor(scale.high / step) + 1)]


def _axis(picture: Picture, scale: Scale, ticks: Iterable[float], written: Any, y: float) -> None:
    picture.line(EDGE, 100 - EDGE, y, y, "axis")
    for tick in ticks:
        x = scale(tick)
        picture.line(x, x, y, y + 4, "axis")
        picture.say(x, y + 17, written(tick), "tick", "middle")
    picture.height = y + 22


def selection(metrics: Record) -> Picture:
    """Return the accuracy by category of probes with its Wilson interval."""
    rows = [row for row in metrics["selectionSummary"]["byCategory"] if row["n"]]
    picture = Picture(
        "Selection by category. "
        + "; ".join(f"{row['category']}: {row['passed']} of {row['n']}, {percent(row['rate'])}" for row in rows)
        + "."
    )
    scale, y = Scale(0, 1), 4.0
    for row in rows:
        style = "primary" if row["headline"] else "second"
        kind = "" if row["headline"] else " (conformance)"
        picture.say(1, y + 12, f"{row['category']}{kind}", "row")
        picture.say(99, y + 12, f"{row['passed']} of {row['n']}", "row", "end")
        ends = row["interval"]
        picture.line(EDGE, 100 - EDGE, y + 24, y + 24, "track")
        picture.line(scale(ends["low"]), scale(ends["high"]), y + 24, y + 24, f"bar {style}")
        picture.dot(scale(row["rate"]), y + 24, f"estimate {style}")
        y += 40
    _axis(picture, scale, (0, 0.25, 0.5, 0.75, 1), share, y)
    return picture


def costs(pair: Record) -> Picture:
    """Return one comparison's paired cost ratios on a logarithmic axis: quantiles, median and sign-test interval."""
    rows = [row for row in pair["measures"] if row["n"]]
    picture = Picture(
        f"Cost of {words.arm(pair['arm'])} as a ratio to {words.arm(pair['reference'])}. "
        + "; ".join(f"{words.MEASURES[row['measure']]}: median {ratio(row['ratio'])}" for row in rows)
        + "."
    )
    scale, y = _ratio_scale(rows), 4.0
    for row in rows:
        picture.line(scale(1), scale(1), y + 17, y + 35, "zero")
        y = _cost_block(picture, scale, row, y)
    shown = [tick for tick in RATIO_TICKS if scale.low <= tick <= scale.high]
    while len(shown) > 2 * MOST_TICKS:
        shown = [tick for tick in shown if RATIO_TICKS.index(tick) % 2 == 0]
    _axis(picture, scale, shown, lambda tick: f"{number(tick)}\N{MULTIPLICATION SIGN}", y)
    return picture


def _ratio_scale(rows: Sequence[Record]) -> Scale:
    ends = [1 / 2, 2.0]
    for row in rows:
        ends += [point["ratio"] for point in row["quantiles"][1:-1]]
        ends += [end for end in (row["interval"]["low"], row["interval"]["high"]) if end is not None]
    return Scale(min(ends) / 1.05, max(ends) * 1.05, logarithmic=True)


def _cost_block(picture: Picture, scale: Scale, row: Record, y: float) -> float:
    at = {point["share"]: scale(point["ratio"]) for point in row["quantiles"]}
    picture.say(1, y + 12, words.MEASURES[row["measure"]], "row")
    picture.say(99, y + 12, ratio(row["ratio"]), "row", "end")
    middle = y + 26
    picture.line(at[0.1], at[0.9], middle, middle, "whisker")
    picture.box(at[0.25], at[0.75], middle - 6, 12, "quartiles")
    low, high = row["interval"]["low"], row["interval"]["high"]
    if low is not None and high is not None:
        picture.line(scale(low), scale(high), middle, middle, "bar primary")
    picture.dot(at[0.5], middle, "estimate primary")
    return y + 42


def sizes(metrics: Record) -> Picture:
    """Return the cases needed at each assumed discordance for both methods, and the cases of this corpus."""
    rows = metrics["planning"]["assumed"]
    here = metrics["summary"]["distinctCases"]
    picture = Picture(
        "Cases needed by assumed discordance. "
        + "; ".join(
            f"{percent(row['discordance'])}: "
            + ", ".join(f"{words.METHODS[size['method']]} {whole(size['cases'])}" for size in row["sizes"])
            for row in rows
        )
        + f". This corpus has {whole(here)}."
    )
    found = [size["cases"] for row in rows for size in row["sizes"] if size["cases"] is not None]
    scale = Scale(max(1, min([here, *found]) / 1.3), max([here, *found]) * 1.15, logarithmic=True)
    picture.say(scale(here), 12, f"this corpus: {whole(here)}", "tick", _anchor(scale(here)))
    y = 20.0
    for row in rows:
        picture.line(scale(here), scale(here), y + 15, y + 31, "margin")
        y = _size_block(picture, scale, row, y)
    _axis(picture, scale, [tick for tick in SIZE_TICKS if scale.low <= tick <= scale.high], whole, y)
    return picture


def _size_block(picture: Picture, scale: Scale, row: Record, y: float) -> float:
    found = [(size, scale(size["cases"])) for size in row["sizes"] if size["cases"] is not None]
    numbers = " / ".join(whole(size["cases"]) for size, _ in reversed(found))
    picture.say(1, y + 12, f"{share(row['discordance'])} of cases differ", "row")
    picture.say(99, y + 12, numbers, "row", "end")
    middle = y + 23
    if len(found) > 1:
        picture.line(found[0][1], found[-1][1], middle, middle, "whisker")
    for size, x in found:
        picture.dot(x, middle, f"estimate {'primary' if size is row['sizes'][0] else 'second'}")
    return y + 36
