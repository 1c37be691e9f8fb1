from __future__ import annotations

import time

import pytest

from eval_tasks.selection import citations

NAMES = {
    name: name
    for name in ("api-design", "continuous-learning", "continuous-learning-v2", "council", "react-testing", "seo")
} | {"literature-review": "scientific-thinking-literature-review"}


def asked(prompt: str) -> tuple[str, ...]:
    return citations.read(prompt, NAMES).asked


@pytest.mark.parametrize(
    ("prompt", "ids"),
    [
        ("Use api-design for it.", ("api-design",)),
        ("api-design, please", ("api-design",)),
        ("Use api-design. Really, use api-design!", ("api-design",)),
        ("Use literature-review.", ("scientific-thinking-literature-review",)),
        ("Use continuous-learning-v2.", ("continuous-learning-v2",)),
        ("Use react-testing, then api-design.", ("react-testing", "api-design")),
        ("Follow the `api-design` skill.", ("api-design",)),
        ('Follow the skill "api-design".', ("api-design",)),
        ("Ask the council skill.", ("council",)),
        ("Run the skill seo on it.", ("seo",)),
    ],
)
def test_a_name_that_stands_by_itself_is_asked_for(prompt: str, ids: tuple[str, ...]) -> None:
    assert asked(prompt) == ids


@pytest.mark.parametrize(
    "prompt",
    [
        "Improve the seo of the page.",
        "The council has met.",
        "Read api-design.md first.",
        "See docs/api-design for it.",
        "Install @acme/api-design now.",
        "Try api-design-kit instead.",
        "Try our-api-design instead.",
        "The API-design is old.",
        'The sign reads "use the api-design skill".',
        "The sign reads “use the api-design skill”.",
        "The column 'api-design' is empty.",
        "Rename the folder `api-design`.",
        "```\nuse api-design\n```",
    ],
)
def test_parts_of_words_paths_quotations_code_and_ordinary_words_are_not_asked_for(prompt: str) -> None:
    found = citations.read(prompt, NAMES)
    assert found.asked == ()
    assert found.ruled_out == frozenset()


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not use api-design.",
        "Don't use api-design for this.",
        "Don\u2019t use api-design for this.",
        "Do it without api-design, quickly.",
        "No api-design here, please.",
        "Never\nuse api-design.",
        "Neither api-design nor react-testing is wanted.",
        "The api-design skill is not wanted.",
        "api-design must not be used.",
        "api-design isn't needed.",
        "Use the plain way instead of api-design.",
        "Use api-design. No, do not use api-design.",
    ],
)
def test_a_negated_name_is_ruled_out(prompt: str) -> None:
    found = citations.read(prompt, NAMES)
    assert found.asked == ()
    assert "api-design" in found.ruled_out


@pytest.mark.parametrize(
    "prompt",
    [
        "The page does not load, use api-design.",
        "Use api-design, not react-testing.",
        "Not react-testing but api-design.",
        "Don't stop at the surface: use api-design.",
        "Use api-design and do not touch the tests.",
        "Use api-design (no tests needed).",
    ],
)
def test_a_negation_of_something_else_does_not_rule_a_name_out(prompt: str) -> None:
    assert asked(prompt) == ("api-design",)


def test_what_is_left_to_search_with_has_no_quotation_code_or_ruled_out_name() -> None:
    prompt = 'Sort "Security Review" and `api-design`, but without react-testing, in the order list.'
    assert citations.read(prompt, NAMES).text.split() == ["Sort", "and", "without", "in", "the", "order", "list"]


def test_apostrophes_do_not_open_a_quotation() -> None:
    prompt = "The customers' list and the vendor's list aren't sorted; 'tis the same in api-design"
    assert asked(prompt) == ("api-design",)
    assert "vendor's list" in citations.read(prompt, NAMES).text


@pytest.mark.parametrize("filler", ["a", "`", "'", '"', "```", "not ", "api-design ", "a-", "n't", "\n", "! "])
def test_the_longest_prompt_is_read_at_once_whatever_it_repeats(filler: str) -> None:
    prompt = (filler * 8_192)[:8_192]
    begin = time.perf_counter()
    citations.read(prompt, NAMES)
    assert time.perf_counter() - begin < 2
