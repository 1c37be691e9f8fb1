"""Measure the resolver against the plain library ranking, on both halves of the probes and on the cases' prompts.

Reads the corpus and the library and must never call an agent or change a threshold. Run it from the project's root:
`.venv/bin/python -m benchmarks.resolver` (`--details` lists what went wrong, `--speed` times warm and cold). Times are
CPU times: other work on the machine does not change them much.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bm25s
import yaml

from eval_tasks import library, origin
from eval_tasks.library import Library, Skill
from eval_tasks.paths import Project
from eval_tasks.selection import citations, ranking, resolver
from eval_tasks.selection.resolver import Blocked, Selected, Task

ROOT = Path(__file__).resolve().parents[1]
OPEN_QUESTIONS = ("paraphrase", "near-miss", "none")
LIBRARY = {"npm": "ecc-universal", "version": "2.0.0", "skills": "skills"}
"""The library for which the probes were written."""

HITS = ["half", "ranking", "hit@1", "hit@3", "hit@5"]
DECISIONS = [
    *["half", "selector", "hit@1", "hit@3", "chosen, right", "chosen, wrong", "proposals"],
    *["of these with the right one", "abstention precision", "abstention recall"],
]
SIZE = 300
"""Skills of the library that is timed."""


@dataclass(frozen=True)
class Question:
    """A task with its right answer: some skills, none, or a code."""

    id: str
    category: str
    group: str
    task: Task
    exclude: tuple[str, ...]
    right: tuple[str, ...]
    code: str | None


@dataclass(frozen=True)
class Answer:
    """What a selector does by itself, and what it would have proposed."""

    chosen: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    code: str | None = None

    @property
    def first(self) -> tuple[str, ...]:
        return self.chosen or self.proposed


Answers = Callable[[Question], Answer]
Ranks = Callable[[str], Sequence[str]]


def probes(root: Path) -> list[Question]:
    content = yaml.safe_load((root / "corpus/probes.yaml").read_text(encoding="utf-8"))
    return [_question(value) for value in content["probes"]]


def _question(value: Mapping[str, object]) -> Question:
    probe: dict[str, object] = {"explicit": [], "exclude": [], "noWorkflow": False, **value}
    expect = dict(probe["expect"])  # type: ignore[call-overload]
    return Question(
        id=str(probe["id"]),
        category=str(probe["category"]),
        group=str(probe["half"]),
        task=Task(str(probe["id"]), str(probe["prompt"]), tuple(probe["explicit"]), bool(probe["noWorkflow"])),  # type: ignore[arg-type]
        exclude=tuple(probe["exclude"]),  # type: ignore[arg-type]
        right=tuple(expect.get("selected", ())),
        code=expect.get("code"),
    )


def cases(root: Path) -> list[Question]:
    """Return the prompts of the corpus's cases, none of which was looked at for tuning."""
    found = []
    for path in sorted(root.glob("corpus/cases/*/case.yaml")):
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        right = (value["skill"],) if value["skill"] else ()
        kind = "paraphrase" if right else "none"
        found.append(Question(value["id"], kind, "cases", Task(value["id"], value["prompt"]), (), right, None))
    return found


def plain_ranks(skills: Sequence[Skill]) -> Ranks:
    """Return bm25s as it comes, over name and description: its own tokens and stop words, no stems."""
    index = bm25s.BM25()
    texts = [f"{skill.id} {skill.description}" for skill in skills]
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def ranks(prompt: str) -> list[str]:
        words = bm25s.tokenize([prompt], return_ids=False, show_progress=False)[0]
        known = [word for word in words if word in index.vocab_dict]
        scores = index.get_scores(known) if known else []
        pairs = sorted(zip(scores, [skill.id for skill in skills], strict=False), key=lambda pair: (-pair[0], pair[1]))
        return [skill_id for score, skill_id in pairs if score > 0]

    return ranks


def ranks_over(skills: Sequence[Skill], names: int, characters: int, catalogue: Library) -> Ranks:
    """Return our ranking with other settings of what is indexed."""
    documents = [
        (skill.id, " ".join([*[skill.id] * names, skill.description, skill.body[:characters]])) for skill in skills
    ]
    index = ranking.Ranking(documents)
    return lambda prompt: [hit.id for hit in index.search(citations.read(prompt, catalogue.ids_by_name).text)]


def ours(catalogue: Library) -> Answers:
    def answer(question: Question) -> Answer:
        found = resolver.resolve(question.task, question.exclude, catalogue)
        if isinstance(found, Blocked):
            return Answer(code=str(found.code))
        if isinstance(found, Selected):
            return Answer(chosen=found.ids)
        return Answer(proposed=tuple(candidate.id for candidate in found.candidates))

    return answer


def first_of(ranks: Ranks) -> Answers:
    return lambda question: Answer(chosen=tuple(ranks(question.task.prompt)[:1]))


def five_of(ranks: Ranks) -> Answers:
    return lambda question: Answer(proposed=tuple(ranks(question.task.prompt)[:5]))


def share(part: int, whole: int) -> str:
    return f"{part}/{whole}"


def hits_row(ranks: Ranks, questions: Iterable[Question]) -> list[str]:
    """Return hit@1, hit@3 and hit@5 over the questions that have a right skill."""
    places = []
    for question in questions:
        if len(question.right) == 1:
            found = list(ranks(question.task.prompt))
            places.append(found.index(question.right[0]) if question.right[0] in found else len(found) + 5)
    return [share(sum(place < depth for place in places), len(places)) for depth in (1, 3, 5)]


def decision_row(answers: Answers, questions: Sequence[Question]) -> list[str]:
    """Return what a selector decides by itself, rightly and wrongly, and how often it must ask."""
    given = [(question, answers(question)) for question in questions]
    wanting = [(question, answer) for question, answer in given if question.right]
    needless = [(question, answer) for question, answer in given if not question.right]
    silent = [question for question, answer in given if not answer.first]
    asked = [(question, answer) for question, answer in given if answer.proposed]
    return [
        share(sum(answer.first[:1] == question.right for question, answer in wanting), len(wanting)),
        share(sum(question.right[0] in answer.first[:3] for question, answer in wanting), len(wanting)),
        str(sum(answer.chosen == question.right for question, answer in wanting)),
        str(sum(bool(answer.chosen) and answer.chosen != question.right for question, answer in given)),
        share(len(asked), len(given)),
        share(
            sum(question.right[0] in answer.proposed for question, answer in asked if question.right),
            sum(bool(question.right) for question, _ in asked),
        ),
        share(sum(not question.right for question in silent), len(silent)),
        share(sum(not answer.first for _, answer in needless), len(needless)),
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(catalogue: Library, asked: Sequence[Question]) -> str:
    skills = list(catalogue.skills.values())
    plain = plain_ranks(skills)
    kinds: dict[str, Ranks] = {
        "plain bm25s: name, description": plain,
        "+ stems, more stop words": ranks_over(skills, 1, 0, catalogue),
        "+ name twice": ranks_over(skills, 2, 0, catalogue),
        "+ first 2,000 characters": ranks_over(skills, 2, 2_000, catalogue),
        "+ whole text (ours)": ranks_over(skills, ranking.NAME_WEIGHT, 10**9, catalogue),
    }
    selectors = {"plain, first": first_of(plain), "plain, five proposed": five_of(plain), "ours": ours(catalogue)}
    groups = {name: [item for item in asked if item.group == name] for name in ("tune", "held", "cases")}
    hits = [[name, kind, *hits_row(ranks, group)] for name, group in groups.items() for kind, ranks in kinds.items()]
    decisions = [
        [name, selector, *decision_row(answers, group)]
        for name, group in groups.items()
        for selector, answers in selectors.items()
    ]
    return f"{table(HITS, hits)}\n\n{table(DECISIONS, decisions)}"


def conformance(catalogue: Library, asked: Sequence[Question]) -> str:
    answers = ours(catalogue)
    rows = []
    for category in ("exact", "policy"):
        those = [item for item in asked if item.category == category]
        kept = sum((answers(item).chosen, answers(item).code) == (item.right, item.code) for item in those)
        rows.append([category, share(kept, len(those))])
    return table(["conformance", "kept"], rows)


def details(catalogue: Library, asked: Sequence[Question]) -> Iterable[str]:
    answers = ours(catalogue)
    for item in asked:
        answer = answers(item)
        if (answer.chosen, answer.code) != (item.right, item.code) or answer.proposed:
            said = f"chosen {answer.chosen}, proposed {answer.proposed}"
            yield f"{item.group:5} {item.id}: right {item.right or item.code}, {said}"


def of_size(catalogue: Library, size: int) -> Library:
    """Return a library of so many skills: the given ones, and further ones that share their texts pairwise."""
    skills = dict(list(catalogue.skills.items())[:size])
    originals = list(catalogue.skills.values())
    for number in range(size - len(skills)):
        one, other = originals[number % len(originals)], originals[-1 - number % len(originals)]
        skill_id = f"{one.id}-{number}"
        mixed = replace(one, id=skill_id, description=f"{one.description} {other.description}", body=other.body)
        skills[skill_id] = mixed
    return Library(catalogue.root, skills)


def warm(catalogue: Library, asked: Sequence[Question]) -> str:
    seconds = []
    for question in [*asked, *asked, *asked]:
        begin = time.process_time()
        resolver.resolve(question.task, question.exclude, catalogue)
        seconds.append(time.process_time() - begin)
    worst = sorted(seconds[len(asked) :])
    return (
        f"warm, {len(catalogue.skills)} skills, CPU time: median {1000 * statistics.median(worst):.2f} ms, "
        f"95 % {1000 * worst[int(0.95 * len(worst))]:.2f} ms, at most {1000 * worst[-1]:.2f} ms"
    )


_COLD = """
import sys, time
laps = [("start", time.process_time())]
import yaml, jsonschema, referencing; laps.append(("yaml and jsonschema", time.process_time()))
from pathlib import Path
from eval_tasks import library
from eval_tasks.selection import ranking, resolver; laps.append(("eval_tasks", time.process_time()))
found = library.load(Path(sys.argv[1])); laps.append(("library of %d" % len(found.skills), time.process_time()))
import numpy; laps.append(("numpy", time.process_time()))
import bm25s, Stemmer; laps.append(("bm25s with scipy.sparse", time.process_time()))
ranking.over(found); laps.append(("index", time.process_time()))
resolver.resolve(resolver.Task("x", "a slow query in the orders table"), (), found)
laps.append(("query", time.process_time()))
print(", ".join("%s %.0f" % (name, 1000 * (at - laps[i][1])) for i, (name, at) in enumerate(laps[1:])))
"""


def cold(root: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _COLD, str(root)], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    return f"cold, fresh process, CPU ms: {done.stdout.strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--details", action="store_true", help="list every question that isn't decided rightly alone")
    parser.add_argument("--speed", action="store_true", help="time warm queries and a fresh process")
    options = parser.parse_args()
    root = origin.locate(LIBRARY, Project(ROOT))
    catalogue = library.load(root)
    every = probes(ROOT)
    asked = [item for item in every if item.category in OPEN_QUESTIONS and not item.task.no_workflow] + cases(ROOT)
    print(report(catalogue, asked))
    print("\n" + conformance(catalogue, every))
    if options.details:
        print("\n" + "\n".join(details(catalogue, asked)))
    if options.speed:
        print("\n" + warm(of_size(catalogue, SIZE), [item for item in every if not item.task.explicit_ids]))
        print(cold(root))


if __name__ == "__main__":
    main()
