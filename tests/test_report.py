"""The report's files say the same numbers, keep to the allowlist, and claim no more than the gate."""

from __future__ import annotations

import base64
import csv
import doctest
import hashlib
import html
import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from eval_tasks import records
from eval_tasks.errors import ExperimentStopped, FailureCode
from eval_tasks.report import inspect_log, numbers, render, words
from eval_tasks.stages.analyze import analyze
from eval_tasks.stages.report import report
from tests.synthetic_records import Records, digest, fates, make, mixed_fate

FILES = {"report.json", "report.html", "report.md", "outcomes.csv", "probes.csv", "junit.xml"}
LOGS = {"inspect-full.eval", "inspect-manual-lean.eval", "inspect-auto-lean.eval"}


def metrics_of(made: Records, **options: Any) -> dict[str, Any]:
    return analyze(*made.arguments(), **{"analysis_sources": made.sources, **options})


def reported(made: Records, **options: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    files = report(metrics_of(made, **options))
    return json.loads(files["report.json"]), files


@cache
def mixed() -> tuple[dict[str, Any], dict[str, bytes]]:
    unknown = make(
        cases=30,
        repeats=2,
        fate=mixed_fate,
        usage_unknown=lambda case, arm: case == 4,
        probe_passes=lambda index: index % 7 != 1,
    )
    return reported(unknown)


class Page(HTMLParser):
    """Every number with its value, every element, and the text of the page."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.values: list[tuple[str, str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._value: str | None = None
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "data":
            self._value = dict(attrs)["value"]

    def handle_data(self, data: str) -> None:
        if self._value is not None:
            self.values.append((self._value, data))
            self._value = None
        self.text.append(data)

    def count(self, tag: str, **wanted: str) -> int:
        return sum(t == tag and all(a.get(k) == v for k, v in wanted.items()) for t, a in self.elements)


def leaves(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*map(leaves, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(leaves, value)) if value else set()
    return {str(value)}


def test_every_file_is_written() -> None:
    _, files = mixed()
    assert set(files) == FILES | LOGS


def test_equal_metrics_give_equal_bytes() -> None:
    made = make(cases=4, fate=mixed_fate)
    assert report(metrics_of(made)) == report(json.loads(json.dumps(metrics_of(made))))


def test_the_json_keeps_to_its_schema_and_is_the_metrics_with_a_verdict() -> None:
    content, _ = mixed()
    assert records.problems("report", content) == []
    assert content["schemaVersion"] == "context-eval.report.v1"
    assert set(content["verdict"]) == {"headline", "sample", "comparisons", "notes"}


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        (
            lambda content: content,
            "schemaVersion registration installs selection outcomes summary selectionSummary calls bounds "
            "authentication isolation evidence gate",
        ),
        (lambda content: content["selection"][0], "id category passed selectedIds failure"),
        (
            lambda content: content["outcomes"][0],
            "caseId arm repeat passed failure selectedIds calls elapsedMs usage",
        ),
        (lambda content: content["summary"], "distinctCases rates pairs"),
        (lambda content: content["summary"]["pairs"][0], "delta interval method"),
        (lambda content: content["gate"], "status nonInferioritySupported releaseApproved"),
    ],
)
def test_the_json_has_at_least_the_agreed_keys(place: Any, keys: str) -> None:
    assert set(keys.split()) <= set(place(mixed()[0]))


@pytest.mark.parametrize(
    "place",
    [
        lambda metrics: metrics,
        lambda metrics: metrics["outcomes"][0],
        lambda metrics: metrics["selection"][0],
        lambda metrics: metrics["summary"]["pairs"][0],
        lambda metrics: metrics["economics"]["pairs"][0]["measures"][0],
        lambda metrics: metrics["registration"]["agent"],
    ],
)
def test_what_is_not_on_the_allowlist_is_refused_at_every_level(place: Any) -> None:
    metrics = metrics_of(make(cases=2))
    place(metrics)["transcript"] = "private"
    with pytest.raises(ExperimentStopped, match="unknown key 'transcript'"):
        report(metrics)


def test_every_object_of_both_schemas_is_closed() -> None:
    def open_objects(schema: Any, place: str) -> list[str]:
        if isinstance(schema, list):
            return [found for item in schema for found in open_objects(item, place)]
        if not isinstance(schema, dict):
            return []
        found = [place] if "properties" in schema and schema.get("additionalProperties") is not False else []
        return found + [f for key, item in schema.items() for f in open_objects(item, f"{place}/{key}")]

    for name in ("metrics", "report"):
        assert open_objects(records.schema(name), name) == []


def test_the_csv_holds_one_row_for_each_scheduled_trial_with_the_numbers_of_the_json() -> None:
    content, files = mixed()
    rows = list(csv.DictReader(io.StringIO(files["outcomes.csv"].decode(), newline="")))
    assert len(rows) == len(content["outcomes"]) == 180
    for row, outcome in zip(rows, content["outcomes"], strict=True):
        assert row["experiment"] == content["registration"]["id"]
        assert (row["caseId"], row["arm"], int(row["repeat"])) == (
            outcome["caseId"],
            outcome["arm"],
            outcome["repeat"],
        )
        assert (row["passed"] == "true") is outcome["passed"]
        assert (row["failure"] or None) == outcome["failure"]
        assert int(row["elapsedMs"]) == outcome["elapsedMs"]
        assert row["selectedIds"] == ";".join(outcome["selectedIds"])
        usage = outcome["usage"] or {}
        for key in ("inputTokens", "cachedInputTokens", "outputTokens"):
            assert row[key] == str(usage.get(key, ""))


def test_the_probes_csv_holds_one_row_for_each_scheduled_probe() -> None:
    content, files = mixed()
    rows = list(csv.DictReader(io.StringIO(files["probes.csv"].decode(), newline="")))
    assert [(row["id"], row["passed"] == "true") for row in rows] == [
        (probe["id"], probe["passed"]) for probe in content["selection"]
    ]


def test_every_number_of_the_page_is_a_value_of_the_json_written_by_the_one_formatter() -> None:
    content, files = mixed()
    known = leaves(content)
    page = Page(files["report.html"])
    assert len(page.values) > 300
    for value, text in page.values:
        assert value in known
        margin = content["registration"]["analysis"]["marginPoints"]
        written = {form(float(value)) for name, form in numbers.FORMATS.items() if name != "whole"}
        written |= {numbers.points(float(value), margin), numbers.whole(int(float(value)))}
        assert text in written


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_page_and_markdown_say_the_numbers_of_the_json(name: str) -> None:
    content, files = mixed()
    raw = files[name].decode()
    text = "".join(Page(files[name]).text) if name.endswith("html") else raw
    for pair in content["summary"]["pairs"]:
        for method in (pair, *pair["additional"]):
            for end in method["interval"].values():
                assert numbers.points(end, pair["marginPoints"]) in text
        assert numbers.points(pair["delta"]) in text
    for row in content["summary"]["rates"]:
        assert numbers.percent(row["rate"]) in text
    for pair in content["economics"]["pairs"]:
        for measure in pair["measures"]:
            assert numbers.ratio(measure["ratio"]) in text
    for sentence in words.sentences(content["verdict"]):
        assert sentence in text


def test_the_markdown_tables_are_whole() -> None:
    _, files = mixed()
    for block in re.findall(r"(?:^\|.*\|\n)+", files["report.md"].decode(), flags=re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_the_page_allows_its_own_style_and_script_and_nothing_else() -> None:
    _, files = mixed()
    text = files["report.html"].decode()
    page = Page(files["report.html"])
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        assert inside is not None
        expected = base64.b64encode(hashlib.sha256(inside.group(1).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{expected}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not any("style" in attributes or "onclick" in attributes for _, attributes in page.elements)


def test_the_page_loads_nothing() -> None:
    page = Page(mixed()[1]["report.html"])
    links = [a.get("src") or a.get("href") or "" for _, a in page.elements if "src" in a or "href" in a]
    assert links
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert b"url(" not in mixed()[1]["report.html"]
    assert b"@import" not in mixed()[1]["report.html"]


def test_the_matrix_has_a_row_for_each_case_and_a_mark_for_each_trial() -> None:
    content, files = mixed()
    text = files["report.html"].decode()
    matrix = text[text.index('<table id="matrix">') : text.index("</table>", text.index('<table id="matrix">'))]
    assert matrix.count('<th scope="row"') == content["summary"]["distinctCases"]
    assert len(re.findall(r'<span class="[pxis]">', matrix)) == content["summary"]["trials"]
    kinds = re.findall(r'<tr(?: class="([a-z ]*)")?><th scope="row"', matrix)
    differs = ["differs" in kind for kind in kinds]
    assert differs == sorted(differs, reverse=True)
    discordant = {name for pair in content["summary"]["pairs"] for name in (*pair["losses"], *pair["wins"])}
    assert sum(differs) == len(discordant)


def test_every_picture_has_words() -> None:
    page = Page(mixed()[1]["report.html"])
    pictures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(pictures) >= 8
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)


def test_markup_in_a_name_is_shown_and_not_run() -> None:
    made = make(cases=2)
    made.registration["design"]["corpus"]["sampling"] = "<script>alert(1)</script> & more"
    text = reported(made)[1]["report.html"].decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_code_has_its_words_and_reaches_every_file(code: FailureCode) -> None:
    _, files = reported(make(cases=2, probes=5, fate=fates({(0, "full"): code.value})))
    assert words.FAILURES[code.value] in html.unescape(files["report.html"].decode())
    assert code.value in files["outcomes.csv"].decode()
    suite = ET.fromstring(files["junit.xml"]).find("testsuite[@name='full']")
    assert suite is not None
    wanted = "error" if code.fault == "infrastructure" else "failure"
    assert [element.attrib["message"] for element in suite.iter(wanted)] == [code.value]


def test_junit_counts_are_those_of_the_json() -> None:
    content, files = mixed()
    root = ET.fromstring(files["junit.xml"])
    for row in content["summary"]["rates"]:
        suite = root.find(f"testsuite[@name='{row['arm']}']")
        assert suite is not None
        assert int(suite.attrib["tests"]) == row["trials"] == len(suite.findall("testcase"))
        assert int(suite.attrib["errors"]) == row["infrastructure"]
        assert int(suite.attrib["failures"]) == row["trials"] - row["passed"] - row["infrastructure"]
        names = [case.attrib["name"] for case in suite]
        assert len(set(names)) == len(names)
    assert root.find(".//system-out") is None


def test_inspect_logs_hold_every_trial_and_its_tokens() -> None:
    content, files = mixed()
    for row in content["summary"]["rates"]:
        with zipfile.ZipFile(io.BytesIO(files[f"inspect-{row['arm']}.eval"])) as archive:
            header = json.loads(archive.read("header.json"))
            samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
        assert header["results"]["scores"][0]["metrics"]["accuracy"]["value"] == row["rate"]
        assert len(samples) == row["trials"]
        assert sum(s["scores"]["hidden-grader"]["value"] == "C" for s in samples) == row["passed"]
        faults = [sample["metadata"]["fault"] for sample in samples]
        assert faults.count("infrastructure") == row["infrastructure"]
        assert not any("error" in sample for sample in samples)
        by_key = {(o["caseId"], o["repeat"]): o for o in content["outcomes"] if o["arm"] == row["arm"]}
        for sample in samples:
            usage = by_key[sample["id"], sample["epoch"]]["usage"]
            if usage is None:
                assert "model_usage" not in sample
                continue
            tokens = sample["model_usage"]["gpt-5.5"]
            assert tokens["input_tokens"] + tokens["input_tokens_cache_read"] == usage["inputTokens"]


def test_a_rehearsal_claims_nothing() -> None:
    content, files = reported(make(evidence="rehearsal", fate=lambda case, arm, repeat: None))
    assert content["gate"]["status"] == "synthetic-only"
    assert content["verdict"]["headline"].startswith("Rehearsal: the model is scripted, so nothing is claimed")
    said = " ".join(words.sentences(content["verdict"]))
    assert "Shortlist recall" in said
    assert "upported" not in said
    assert "What it would take" not in said
    assert "nothing claimed" in files["report.html"].decode()


def test_an_unsupported_claim_is_not_called_wrong_and_says_what_it_would_take() -> None:
    content, _ = reported(make(fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    assert content["verdict"]["headline"] == "This run can't say that Auto Lean does as well as Full, within 5 points."
    said = content["verdict"]["comparisons"][0]["sentences"]
    assert "is not evidence of inferiority" in said[1]
    assert "with 0 losses, 15 wins by Hoeffding\N{EN DASH}Bonferroni or 5 wins by optimized betting" in said[2]
    assert "a new corpus of 3,972 cases" in said[2]
    assert "362 cases (1,480 calls) by optimized betting" in said[2]


def test_a_supported_claim_is_said_to_hold_for_these_cases_only() -> None:
    content, _ = reported(make(fate=lambda case, arm, repeat: "hidden-check" if arm == "full" else None))
    assert content["gate"]["nonInferioritySupported"] is True
    assert content["verdict"]["headline"] == (
        "On these 30 registered cases, Auto Lean and Manual Lean do as well as Full, within 5 points."
    )
    assert "What it would take" not in " ".join(words.sentences(content["verdict"]))
    assert "never approves a release" in content["verdict"]["notes"][-1]


def test_further_arms_are_shown_beside_the_claim_and_are_called_no_part_of_it() -> None:
    six = ["full", "manual-lean", "auto-lean", "baseline", "pinned", "a-a"]
    content, files = reported(make(arms=six, fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    assert content["verdict"]["headline"] == "This run can't say that Auto Lean does as well as Full, within 5 points."
    said = {row["arm"]: row["sentences"] for row in content["verdict"]["comparisons"]}
    assert list(said) == ["auto-lean", "manual-lean", "a-a", "baseline", "pinned"]
    assert said["a-a"][1] == "No claim is about it: both arms are Full, so that whatever differs here is noise."
    assert [len(said[arm]) for arm in ("auto-lean", "a-a", "baseline", "pinned")] == [3, 2, 2, 2]
    page = files["report.html"].decode()
    assert page.count("no claim") == 2 * 3
    assert "Full again" in page


def test_without_a_lean_arm_the_report_says_that_there_is_nothing_to_judge() -> None:
    content, _ = reported(make(arms=["full", "a-a"]))
    assert content["verdict"]["headline"] == "No Lean arm was compared, so this run can't judge Lean against Full."


def test_the_additional_method_is_named_where_it_differs() -> None:
    content, _ = reported(make(cases=100, fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    said = content["verdict"]["comparisons"][0]["sentences"][1]
    assert "The additional method, optimized betting, supports it; the gate follows the primary one." in said


def test_a_result_below_the_margin_is_called_worse() -> None:
    content, _ = reported(make(fate=lambda case, arm, repeat: None if arm == "full" else "hidden-check"))
    assert "does worse than Full by more than 5 points" in content["verdict"]["headline"]
    assert "not evidence of inferiority" not in content["verdict"]["comparisons"][0]["sentences"][1]


def test_another_margin_than_five_points_stands_in_the_verdict() -> None:
    content, _ = reported(make(margin_points=7, fate=lambda case, arm, repeat: "hidden-check" if case % 2 else None))
    assert "within 7 points" in content["verdict"]["headline"]
    assert "7-point margin (registered; the usual one is 5)" in content["verdict"]["comparisons"][0]["sentences"][1]


@pytest.mark.parametrize(("selector", "said"), [("reference-bm25@0123456789ab", True), ("command@0123456789ab", False)])
def test_the_reference_selector_is_no_evidence_about_the_real_one(selector: str, said: bool) -> None:
    made = make(cases=2)
    made.registration["design"]["selector"] = selector
    content, _ = reported(made)
    assert ("no evidence about ECC's own resolver" in content["verdict"]["notes"][0]) is said


def test_a_changed_analysis_is_said_in_page_and_markdown() -> None:
    made = make(fate=mixed_fate)
    registered = metrics_of(made)
    _, files = reported(
        made, analysis_sources={"eval_tasks/stages/analyze.py": digest("new")}, registered_metrics=registered
    )
    for name in ("report.html", "report.md"):
        text = files[name].decode()
        assert "The analysis differs from the registered one." in text
        assert "The registered analysis found" in text


@pytest.mark.parametrize(
    "options",
    [
        {"cases": 1, "probes": 0},
        {"cases": 2, "usage_unknown": lambda case, arm: True},
        {"cases": 2, "fate": lambda case, arm, repeat: "interrupted"},
        {"cases": 3, "repeats": 3, "evidence": "rehearsal", "probe_passes": lambda index: False},
    ],
)
def test_meagre_experiments_have_a_report_too(options: dict[str, Any]) -> None:
    _, files = reported(make(**options))
    assert set(files) == FILES | LOGS


def test_every_reason_and_measure_has_its_words() -> None:
    reasons = records.schema("metrics")["$defs"]["reason"]["enum"]
    assert set(reasons) == set(words.REASONS)
    measures = {row["measure"] for row in mixed()[0]["economics"]["pairs"][0]["measures"]}
    assert measures == set(words.MEASURES)


def test_the_examples_in_the_docstrings_hold() -> None:
    for module in (numbers, words, render, inspect_log):
        assert doctest.testmod(module).failed == 0
