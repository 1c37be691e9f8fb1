from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_tasks import digests
from eval_tasks.library import Library, Skill
from eval_tasks.selection import ranking
from eval_tasks.selection.ranking import Ranking


def skill(skill_id: str, description: str, body: str = "") -> Skill:
    return Skill(skill_id, skill_id, description, body, body, {"SKILL.md": skill_id + description + body})


def library_of(*skills: Skill) -> Library:
    return Library(Path("skills"), {item.id: item for item in skills})


BAKING = library_of(
    skill("bread-baking", "Kneading dough and proving loaves."),
    skill("cake-decorating", "Icing and sugar flowers for tiers."),
    skill("cpp-ovens", "Firmware of ovens in C++."),
    skill("fsharp-ovens", "Firmware of ovens in F#.", "Thermostats drift when the probe is dusty."),
)


def found(library: Library, text: str) -> list[str]:
    return [hit.id for hit in ranking.over(library).search(text)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("the loaf needs more proving", "bread-baking"),
        ("decorate it", "cake-decorating"),
        ("decorations with icing", "cake-decorating"),
        ("firmware in C++", "cpp-ovens"),
        ("firmware in f#", "fsharp-ovens"),
        ("a dusty thermostat", "fsharp-ovens"),
    ],
)
def test_a_skill_is_found_by_stems_of_its_name_description_and_body(text: str, first: str) -> None:
    assert found(BAKING, text)[0] == first


@pytest.mark.parametrize("text", ["", "  ", "the and of with", "12 345", "zebra", "!!!"])
def test_a_text_that_shares_no_word_finds_nothing(text: str) -> None:
    assert found(BAKING, text) == []


def test_repeating_a_prompt_changes_no_score() -> None:
    index = ranking.over(BAKING)
    once = index.search("icing for the loaves")
    assert index.search("icing for the loaves " * 20) == once
    assert len(once) == 2


def test_equal_scores_are_ordered_by_id() -> None:
    twins = library_of(skill("twin-b", "Same words."), skill("twin-a", "Same words."), skill("other", "Different."))
    hits = ranking.over(twins).search("same twin")
    assert [hit.id for hit in hits] == ["twin-a", "twin-b"]
    assert hits[0].score == hits[1].score


@pytest.mark.parametrize("count", [1, 2, 5, 60, 400])
def test_one_word_alone_never_reaches_a_score_of_one(count: int) -> None:
    texts = [(f"s{number}", "zebra " * 50 if number == 0 else f"filler{number} text") for number in range(count)]
    (hit,) = Ranking(texts).search("zebra")
    assert 0.2 < hit.score < 1


def test_a_unit_means_the_same_in_a_small_and_in_a_large_library() -> None:
    def first(count: int) -> float:
        texts = [("wanted", "zebra giraffe okapi")] + [(f"s{n}", f"word{n} term{n} text{n}") for n in range(count - 1)]
        return Ranking(texts).search("zebra giraffe")[0].score

    assert first(5) == pytest.approx(first(300), rel=0.01)


def test_the_order_of_the_prompts_words_changes_nothing() -> None:
    index = ranking.over(BAKING)
    assert index.search("firmware ovens dusty icing") == index.search("icing dusty ovens firmware")


def test_a_library_without_a_word_can_be_searched() -> None:
    assert Ranking([("s1", "12"), ("s2", "")]).search("anything") == []
    assert Ranking([]).search("anything") == []


def test_an_index_is_kept_for_equal_libraries_and_built_anew_for_changed_ones() -> None:
    again = Library(Path("elsewhere"), dict(BAKING.skills))
    changed = replace(BAKING.skills["bread-baking"], files={"SKILL.md": "other"}, description="Icing.")
    assert ranking.over(again) is ranking.over(BAKING)
    assert found(library_of(*list(BAKING.skills.values())[1:], changed), "icing")[0] == "bread-baking"


# What asks the index needs neither bm25s nor numpy, and must not differ from them


WORDS = st.sampled_from(
    ["icing", "Loaves", "C++", "f#", "the", "12", "dusty", "oven's", "proving", "naïve", "_x", "zebra"]
)


@given(words=st.lists(WORDS, max_size=12), glue=st.sampled_from([" ", ", ", "/", "\n"]))
def test_a_prompts_words_are_those_that_bm25s_makes_of_it(words: list[str], glue: str) -> None:
    text = glue.join(words)
    index = ranking.over(BAKING)
    known = index._columns.keys()
    assert index._words(text) & known == set(ranking._tokens([text])[0]) & known


def test_a_score_is_the_one_of_bm25s() -> None:
    texts = [ranking.document(skill) for skill in BAKING.skills.values()]
    own = ranking._bm25().BM25()
    own.index(ranking._tokens(texts), show_progress=False)
    asked = "firmware of dusty ovens, icing and loaves"
    words = sorted(set(ranking._tokens([asked])[0]) & own.vocab_dict.keys())
    index = ranking.over(BAKING)
    wanted = {key: score for key, score in zip(BAKING.skills, own.get_scores(words).tolist(), strict=True) if score > 0}
    assert {hit.id: hit.score * index.value["unit"] for hit in index.search(asked)} == pytest.approx(wanted, rel=1e-6)


def test_an_index_on_disk_gives_the_same_hits_and_a_damaged_one_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests.CACHE, "folder", tmp_path)
    asked = "firmware of dusty ovens, icing and loaves"
    ranking._built.cache_clear()
    first = ranking.over(BAKING).search(asked)
    (kept,) = tmp_path.glob("ranking-*")
    ranking._built.cache_clear()
    monkeypatch.setattr(ranking, "_bm25", lambda: pytest.fail("built again"))
    assert ranking.over(BAKING).search(asked) == first
    monkeypatch.undo()
    monkeypatch.setattr(digests.CACHE, "folder", tmp_path)
    written = kept.read_bytes()
    kept.write_bytes(written.replace(b'"bread-baking"', b'"bread-faking"'))
    ranking._built.cache_clear()
    assert ranking.over(BAKING).search(asked) == first
    assert kept.read_bytes() == written
    ranking._built.cache_clear()
