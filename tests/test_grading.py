"""Two-process grading: what passes, what fails and why, what crosses, and that nothing stays behind."""

# ruff: noqa: E501 - the long lines are JavaScript

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_tasks.errors import FailureCode
from eval_tasks.grading import intake, messages, opponents
from eval_tasks.grading.grader import Limits, Runtime, Surroundings, Verdict, grade
from eval_tasks.grading.messages import MessageRefused
from eval_tasks.grading.opponents import ESCAPED, Opponent

ROOT = Path(__file__).resolve().parents[1]
ATTACKS = ROOT / "tests" / "attacks"
MODULES = ROOT / "toolchain" / "node_modules"
BUBBLEWRAPS = sorted(MODULES.glob("@openai/codex-linux-*/vendor/*/codex-resources/bwrap"))
HIDDEN, BROKEN = FailureCode.HIDDEN_CHECK, FailureCode.GRADING_FAILED

# The sample case: right but for refunds, which the initial files add instead of taking off.
INITIAL = {
    "src/total.js": b"""'use strict';
const { cents } = require('./cents.js');
module.exports = (lines) => lines.reduce((sum, line) => sum + cents(Math.abs(line.price)) * line.count, 0);
""",
    "src/cents.js": b"""'use strict';
exports.cents = (price) => {
  if (typeof price !== 'number') throw Object.assign(new TypeError('no price'), { code: 'E_PRICE' });
  return Math.round(price * 100);
};
""",
    "README.md": b"# Totals\n",
}
RIGHT = {**INITIAL, "src/total.js": INITIAL["src/total.js"].replace(b"Math.abs(line.price)", b"line.price")}
GRADER = """'use strict';
const total = (load, lines) => load('./src/total.js')(lines);
module.exports = async ({ subject, assert, files }) => {
  assert.strictEqual(await subject.run(total, [{ price: 1.15, count: 3 }]), 345, 'cents are exact');
  assert.strictEqual(await subject.run(total, [{ price: 2, count: 1 }, { price: -0.5, count: 2 }]), 100, 'a refund is taken off');
  await assert.rejects(subject.run(total, [{ price: '1', count: 1 }]), { code: 'E_PRICE' }, 'a price is a number');
  assert.match(await files.read('README.md'), /Totals/, 'the readme stays');
};
"""


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    assert BUBBLEWRAPS, "run `make toolchain` first: the grading box needs the bubblewrap that ships with Codex"
    found = Runtime.find(bubblewrap=BUBBLEWRAPS[0])
    assert found.fault is None, found.fault
    return found


def graded(
    runtime: Runtime,
    folder: Path,
    files: Mapping[str, bytes],
    grader: str = GRADER,
    *,
    limits: Limits | None = None,
    surroundings: Surroundings | None = None,
) -> Verdict:
    """Grade files against a grader's text in a folder of the test."""
    folder.mkdir(exist_ok=True)
    script = folder / "grader.cjs"
    script.write_text(grader, "utf-8")
    submission = folder / "submission"
    if submission.exists():
        shutil.rmtree(submission)
    opponents.lay(Opponent("wrong", "sample", files), submission, folder / f"outside{time.monotonic_ns()}")
    return grade(submission, script, runtime, limits=limits or Limits(), surroundings=surroundings or Surroundings())


def checking(body: str) -> str:
    """Return a grader with this body."""
    return f"module.exports = async ({{ subject, assert, files }}) => {{\n{body}\n}};\n"


ECHO = {"a.js": b"module.exports = (value) => value;\n"}
ASK = "const ask = (value) => subject.run((load, given) => load('./a.js')(given), value);\n"


# What passes and what fails


def test_a_right_submission_passes_with_every_check_counted(runtime: Runtime, tmp_path: Path) -> None:
    verdict = graded(runtime, tmp_path, RIGHT)
    assert (verdict.passed, verdict.failure, verdict.checks) == (True, None, 4)
    assert verdict.labels == ("cents are exact", "a refund is taken off", "a price is a number", "the readme stays")
    assert 0 < verdict.elapsed_ms < 10_000


def test_a_wrong_submission_fails_at_the_label_of_its_check(runtime: Runtime, tmp_path: Path) -> None:
    verdict = graded(runtime, tmp_path, INITIAL)
    assert (verdict.passed, verdict.failure, verdict.checks) == (False, HIDDEN, 2)
    assert verdict.reason == "a refund is taken off"


@pytest.mark.parametrize(
    ("check", "label"),
    [
        ("assert(await ask(0), 'as a function');", "as a function"),
        ("assert.ok(await ask(0), 'ok');", "ok"),
        ("assert.fail('always');", "always"),
        ("assert.equal(await ask(1), 2, 'two numbers');", "two numbers"),
        ("assert.deepEqual(await ask([1, { a: 2 }]), [1, { a: '2' }], 'deep is strict');", "deep is strict"),
        ("assert.match(await ask('a'), /b/, 'a pattern');", "a pattern"),
        ("assert.throws(() => {}, { code: 'E' }, 'nothing thrown');", "nothing thrown"),
        ("await assert.rejects(ask(1), { code: 'E' }, 'not rejected');", "not rejected"),
        (
            "await assert.rejects(subject.run(() => { throw new Error('x'); }), { code: 'E' }, 'other code');",
            "other code",
        ),
        ("await assert.doesNotReject(subject.run(() => { throw new Error('x'); }), 'rejected');", "rejected"),
        ("await Promise.all([assert.rejects(ask(1), { code: 'E' }, 'one'), ask(1)]);", "one"),
        ("assert.equal(await ask(1), 2);", "a check without a label"),
    ],
)
def test_each_kind_of_check_reports_its_label(runtime: Runtime, tmp_path: Path, check: str, label: str) -> None:
    verdict = graded(runtime, tmp_path, ECHO, checking(f"{ASK}await ask(0);\n{check}"))
    assert (verdict.failure, verdict.reason, verdict.checks) == (HIDDEN, label, 1)


@pytest.mark.parametrize(
    ("body", "code", "reason"),
    [
        ("await ask(1);", HIDDEN, "unchecked: no check was made"),
        ("", BROKEN, "unchecked: no check was made"),
        ("assert.ok(true, 'a');", BROKEN, "passed: a check without a label"),
        ("assert.equal(await ask(1), 1, 'a'); ask(2);", HIDDEN, "outstanding: a run or a check was not awaited"),
        (
            "assert.equal(await ask(1), 1, 'a'); assert.rejects(ask(2), { code: 'E' }, 'b');",
            HIDDEN,
            "outstanding: a run or a check was not awaited",
        ),
        ("try { assert.equal(await ask(1), 2, 'caught'); } catch {} assert.ok(1, 'b');", HIDDEN, "caught"),
        ("assert.equal(await ask(1), 1, 'a'); throw new RangeError('own');", HIDDEN, "broken: RangeError: own"),
        ("throw new RangeError('own');", BROKEN, "broken: RangeError: own"),
        (
            "await subject.run('text'); assert.ok(1, 'a');",
            BROKEN,
            "broken: TypeError: subject.run takes a function first",
        ),
        (
            "await subject.run({ f() {} }.f);",
            BROKEN,
            "broken: TypeError: a driver must be an arrow function or a function expression",
        ),
        (
            "await ask(() => 1);",
            BROKEN,
            "broken: CrossingError: a function can't cross between the submission and the grader",
        ),
        ("await subject.run(() => { throw new EvalError('x'); });", HIDDEN, "threw: EvalError"),
        ("await subject.run(() => { throw 'text'; });", HIDDEN, "threw: string"),
    ],
)
def test_a_grader_that_ends_oddly_never_passes(
    runtime: Runtime, tmp_path: Path, body: str, code: FailureCode, reason: str
) -> None:
    verdict = graded(runtime, tmp_path, ECHO, checking(ASK + body))
    assert (verdict.passed, verdict.failure, verdict.reason) == (False, code, reason)


@pytest.mark.parametrize(
    "text", ["module.exports = 1;", "syntax error", "", "process.exit(0);", "process.reallyExit(0);"]
)
def test_a_grader_that_is_none_is_a_fault_of_the_grading(runtime: Runtime, tmp_path: Path, text: str) -> None:
    assert graded(runtime, tmp_path, RIGHT, text).failure is BROKEN


def test_a_missing_grader_is_a_fault_of_the_grading(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert grade(tmp_path / "empty", tmp_path / "none.cjs", runtime).failure is BROKEN


# Subjects


def test_runs_of_one_subject_share_its_modules_and_a_fresh_one_does_not(runtime: Runtime, tmp_path: Path) -> None:
    counter = {"a.js": b"let count = 0;\nmodule.exports = () => (count += 1);\n"}
    body = """
const next = (from) => from.run((load) => load('./a.js')());
const other = await subject.fresh();
assert.deepStrictEqual([await next(subject), await next(subject), await next(other)], [1, 2, 1], 'state');
await other.stop();
await assert.rejects(next(other), TypeError, 'a stopped subject answers no more');
assert.deepStrictEqual(await next(subject), 3, 'the first lives on');
"""
    verdict = graded(runtime, tmp_path, counter, checking(body))
    assert verdict.passed, verdict


def test_concurrent_runs_are_told_apart(runtime: Runtime, tmp_path: Path) -> None:
    slow = {"a.js": b"module.exports = (ms) => new Promise((done) => setTimeout(() => done(ms), ms));\n"}
    verdict = graded(
        runtime,
        tmp_path,
        slow,
        checking(ASK + "assert.deepStrictEqual(await Promise.all([30, 10, 20].map(ask)), [30, 10, 20], 'order');"),
    )
    assert verdict.passed, verdict


def test_a_stopped_subject_rejects_what_it_was_asked(runtime: Runtime, tmp_path: Path) -> None:
    body = """
const other = await subject.fresh();
const waiting = other.run(() => new Promise(() => {}));
const rejected = assert.rejects(waiting, { name: 'SubjectDied' }, 'rejected');
await other.stop();
await rejected;
"""
    assert graded(runtime, tmp_path, ECHO, checking(body)).passed


def test_a_dead_subject_fails_the_grade_even_if_the_grader_catches_it(runtime: Runtime, tmp_path: Path) -> None:
    body = "await subject.run(() => process.exit(0)).catch(() => {}); assert.ok(true, 'a');"
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert (verdict.failure, verdict.reason) == (HIDDEN, "subject: exited")


def test_a_subject_that_dies_after_its_last_answer_fails(runtime: Runtime, tmp_path: Path) -> None:
    late = {"a.js": b"module.exports = (value) => {\n  Promise.reject(new Error('late'));\n  return value;\n};\n"}
    for _ in range(5):
        verdict = graded(runtime, tmp_path, late, checking(ASK + "assert.equal(await ask(1), 1, 'a');"))
        assert (verdict.failure, verdict.reason) == (HIDDEN, "subject: exited")


def test_too_many_subjects_are_a_fault_of_the_grader(runtime: Runtime, tmp_path: Path) -> None:
    verdict = graded(
        runtime, tmp_path, ECHO, checking("for (let i = 0; i < 9; i += 1) subject.fresh();"), limits=Limits(subjects=2)
    )
    assert (verdict.failure, verdict.reason) == (BROKEN, "grader: protocol: too many subjects")


# What crosses


def test_values_arrive_as_they_left_in_both_directions(runtime: Runtime, tmp_path: Path) -> None:
    body = (
        ASK
        + """
const values = [undefined, null, true, 0, -0, NaN, Infinity, -Infinity, 1e308, 2 ** 53, 12345678901234567890n, -1n, '', 'é\\u2028\\ud800',
  new Date(0), [], [1, [2, [3]]], {}, { a: { b: [undefined, null] } }, new Map([[{ k: 1 }, new Set([1, '1'])]]), new Set(),
  /a+/giu, Buffer.from([0, 255]), [['u']], ['o', [['a', 1]]], { then: 1, toJSON: 2, constructor: 3, length: 4 }];
for (const [index, value] of values.entries()) assert.deepStrictEqual(await ask(value), value, `value ${index}`);
assert.ok(Number.isNaN((await ask(new Date(NaN))).getTime()), 'an invalid date stays one');
const named = await ask(JSON.parse('{"__proto__": {"polluted": true}, "a": 1}'));
assert.deepStrictEqual(Object.keys(named), ['__proto__', 'a'], 'a magic name is a name');
assert.equal({}.polluted, undefined, 'nothing is polluted');
const holes = await subject.run(() => [1, , 3]);
assert.deepStrictEqual([holes.length, 1 in holes], [3, false], 'holes stay holes');
"""
    )
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


def test_instances_arrive_as_plain_objects_and_bytes_as_buffers(runtime: Runtime, tmp_path: Path) -> None:
    body = """
class Own {}
assert.deepStrictEqual(await subject.run(() => new (class Point { constructor() { this.x = 1; } get y() { return 2; } })()), { x: 1 }, 'class');
assert.deepStrictEqual(await subject.run(() => Object.assign(Object.create(null), { x: 1 })), { x: 1 }, 'no prototype');
assert.deepStrictEqual(await subject.run(() => new Uint8Array([1, 2])), Buffer.from([1, 2]), 'bytes');
"""
    assert graded(runtime, tmp_path, ECHO, checking(body)).passed


def test_errors_keep_name_message_code_cause_and_class(runtime: Runtime, tmp_path: Path) -> None:
    body = """
const fail = () => { throw Object.assign(new RangeError('far', { cause: new Error('near') }), { code: 'E_FAR', status: 416 }); };
await assert.rejects(subject.run(fail), { name: 'RangeError', message: 'far', code: 'E_FAR', status: 416 }, 'by shape');
await assert.rejects(subject.run(fail), RangeError, 'by class');
await assert.rejects(subject.run(fail), (error) => error.cause.message === 'near', 'with its cause');
await assert.rejects(subject.run((load) => load('./none.js')), { code: 'MODULE_NOT_FOUND' }, 'from Node');
assert.deepStrictEqual(await subject.attempt(fail), { error: { name: 'RangeError', message: 'far', code: 'E_FAR' } }, 'attempted');
assert.deepStrictEqual(await subject.attempt(() => 1), { value: 1 }, 'attempted well');
assert.equal((await subject.run(() => new TypeError('kept'))).message, 'kept', 'as a value');
"""
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("() => 1", "a function"),
        ("Symbol('a')", "a symbol"),
        ("(() => { const a = []; a.push(a); return a; })()", "a cyclic value"),
        ("[Promise.resolve(1)]", "a promise"),
        ("Array.from({ length: 60 }).reduce((held) => [held], 0)", "a value nested this deep"),
        ("new Array(60000).fill(0)", "a value of more than 50,000 parts"),
        ("new Array(2 ** 31)", "a value of more than 50,000 parts"),
    ],
)
def test_what_can_not_cross_rejects_the_run(runtime: Runtime, tmp_path: Path, answer: str, what: str) -> None:
    body = f"await assert.rejects(subject.run(() => ({answer})), {{ name: 'CrossingError', message: `{what} can't cross between the submission and the grader` }}, 'a');"
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


def test_a_submission_that_pollutes_prototypes_shows_it(runtime: Runtime, tmp_path: Path) -> None:
    merge = {
        "a.js": b"module.exports = (into, from) => { for (const k in from) typeof from[k] === 'object' ? module.exports(into[k] ??= {}, from[k]) : (into[k] = from[k]); };\n"
    }
    body = """
const polluted = await subject.run((load) => { load('./a.js')({}, JSON.parse('{"__proto__": {"admin": true}}')); return {}.admin; });
assert.equal(polluted, undefined, 'no prototype is changed');
"""
    assert graded(runtime, tmp_path, merge, checking(body)).reason == "no prototype is changed"


# Limits and blame


def test_a_submission_that_never_answers_is_a_wrong_answer(runtime: Runtime, tmp_path: Path) -> None:
    started = time.monotonic()
    verdict = graded(
        runtime, tmp_path, {"a.js": b"for (;;) {}\n"}, checking(ASK + "await ask(1);"), limits=Limits(wall_seconds=2)
    )
    assert (verdict.failure, verdict.reason) == (HIDDEN, "subject: wall limit")
    assert time.monotonic() - started < 5


def test_a_grader_that_waits_for_itself_is_a_fault_of_the_grading(runtime: Runtime, tmp_path: Path) -> None:
    body = ASK + "await ask(1); await new Promise(() => {});"
    # Long enough that Node's own start is no twentieth of it, also on a machine at work.
    verdict = graded(runtime, tmp_path, ECHO, checking(body), limits=Limits(wall_seconds=5))
    assert (verdict.failure, verdict.reason) == (BROKEN, "grader: wall limit")


@pytest.mark.parametrize(("before", "code"), [("", BROKEN), ("await ask(1);", HIDDEN)])
def test_a_grader_kept_busy_is_blamed_on_what_it_was_shown(
    runtime: Runtime, tmp_path: Path, before: str, code: FailureCode
) -> None:
    verdict = graded(runtime, tmp_path, ECHO, checking(f"{ASK}{before} for (;;) {{}}"), limits=Limits(wall_seconds=5))
    assert (verdict.failure, verdict.reason) == (code, "grader: wall limit")


def test_a_grader_whose_heap_is_filled_by_an_answer_is_a_wrong_answer(runtime: Runtime, tmp_path: Path) -> None:
    body = ASK + "await ask(1); const held = []; for (;;) held.push(new Array(1e5).fill({}));"
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert (verdict.failure, verdict.reason) == (HIDDEN, "grader: ended without a verdict")


def test_a_talkative_submission_passes_up_to_the_limit(runtime: Runtime, tmp_path: Path) -> None:
    body = ASK + "assert.equal(await ask(1), 1, 'a');"
    for size, passed in ((60_000, True), (70_000, False)):
        files = {
            "a.js": f"module.exports = (v) => {{ process.stdout.write('x'.repeat({size})); return v; }};\n".encode()
        }
        verdict = graded(runtime, tmp_path, files, checking(body))
        assert (verdict.passed, verdict.reason) == (passed, "" if passed else "subject: output limit")


def test_an_endless_dialogue_is_ended(runtime: Runtime, tmp_path: Path) -> None:
    body = ASK + "for (;;) await ask(1);"
    verdict = graded(runtime, tmp_path, ECHO, checking(body), limits=Limits(runs=50))
    assert (verdict.failure, verdict.reason) == (HIDDEN, "grader: too many messages")


# Files as data


def test_files_are_read_as_data_and_never_outside(runtime: Runtime, tmp_path: Path) -> None:
    files = {"a.txt": "é\n".encode(), "dir/b.txt": b"b", "dir/sub/c": b"c", "bin": b"\xff\xfe", "big": b"x" * 70_000}
    body = """
assert.equal(await files.read('a.txt'), 'é\\n', 'text');
assert.equal(await files.read('./dir/../a.txt').catch((error) => error.code), 'EINVAL', 'no way up');
assert.deepStrictEqual(await files.list(), ['a.txt', 'big', 'bin', 'dir/b.txt', 'dir/sub/c'], 'all');
assert.deepStrictEqual(await files.list('dir'), ['dir/b.txt', 'dir/sub/c'], 'below');
assert.deepStrictEqual([await files.exists('dir'), await files.exists('dir/b.txt'), await files.exists('none')], [true, true, false], 'exists');
const codes = [];
for (const name of ['none', 'bin', 'big', 'dir', '/etc/passwd', '../x', 'a\\0b', '', 'a.txt/b']) codes.push(await files.read(name).then(() => 'read', (error) => error.code));
assert.deepStrictEqual(codes, ['ENOENT', 'EILSEQ', 'EFBIG', 'EINVAL', 'EINVAL', 'EINVAL', 'EINVAL', 'EINVAL', 'ENOENT'], 'refusals');
"""
    verdict = graded(runtime, tmp_path, files, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


# Taking the submission in


def test_only_own_readable_regular_files_are_taken_in(tmp_path: Path) -> None:
    source, outside = tmp_path / "s", tmp_path / "outside"
    (source / "dir").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (source / "plain").write_text("plain")
    (source / "tool").write_text("tool")
    (source / "tool").chmod(0o6777)
    (source / "link").symlink_to(outside / "secret")
    (source / "dir" / "up").symlink_to(outside)
    os.link(outside / "secret", source / "hard")
    os.mkfifo(source / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(source / "socket"))
    (source / "dark").write_text("dark")
    (source / "dark").chmod(0)
    (source / "closed").mkdir(mode=0o700)
    (source / "closed" / "inner").write_text("inner")
    (source / "closed").chmod(0)
    intake.take_in(source, tmp_path / "copy")
    found = {
        path.relative_to(tmp_path / "copy").as_posix(): stat.S_IMODE(path.lstat().st_mode)
        for path in (tmp_path / "copy").rglob("*")
    }
    assert found == {"dir": 0o755, "plain": 0o644, "tool": 0o644}
    (source / "closed").chmod(0o700)


@pytest.mark.parametrize(("entries", "size", "depth"), [(5000, 0, 0), (3, 30 * 1024 * 1024, 0), (0, 0, 40)])
def test_a_submission_beyond_the_bounds_fails(
    runtime: Runtime, tmp_path: Path, entries: int, size: int, depth: int
) -> None:
    submission = tmp_path / "s"
    (submission / "/".join(["d"] * depth)).mkdir(parents=True) if depth else submission.mkdir()
    for index in range(entries):
        with open(submission / str(index), "wb") as stream:
            stream.truncate(size)
    (tmp_path / "g.cjs").write_text(GRADER)
    verdict = grade(submission, tmp_path / "g.cjs", runtime)
    assert (verdict.failure, verdict.reason) == (HIDDEN, "the submission is too large")


def test_grading_only_reads_the_submission(runtime: Runtime, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    opponents.lay(Opponent("wrong", "x", RIGHT, traps={"extra": opponents.Trap.LINK}), submission, tmp_path / "o")
    (tmp_path / "grader.cjs").write_text(GRADER)
    before = {path: (path.lstat().st_mode, path.lstat().st_mtime_ns) for path in submission.rglob("*")}
    assert grade(submission, tmp_path / "grader.cjs", runtime).passed
    assert {path: (path.lstat().st_mode, path.lstat().st_mtime_ns) for path in submission.rglob("*")} == before


# What a process sees


def test_a_subject_sees_a_neutral_place_and_nothing_of_the_host(runtime: Runtime, tmp_path: Path) -> None:
    body = """
const seen = await subject.run((load) => ({ env: Object.keys(process.env).sort(), argv: process.argv.slice(1), cwd: process.cwd(), file: load.resolve('./a.js'),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone, home: load('node:os').hostname() }));
assert.deepStrictEqual(seen, { env: ['LANG', 'LC_ALL', 'PATH', 'PWD', 'TZ'], argv: [], cwd: '/', file: '/s/a.js', zone: 'UTC', home: 'box' }, 'seen');
"""
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


def test_the_surroundings_can_be_varied(runtime: Runtime, tmp_path: Path) -> None:
    body = "assert.equal(await subject.run(() => new Date(0).getHours()), 9, 'hours');"
    verdict = graded(runtime, tmp_path, ECHO, checking(body), surroundings=Surroundings(time_zone="Asia/Tokyo"))
    assert verdict.passed, verdict


def test_the_grader_process_has_no_submission_and_no_subject_has_the_grader(runtime: Runtime, tmp_path: Path) -> None:
    body = """
const fs = require('node:fs');
const codes = (names, read) => names.map((name) => { try { read(name); return 'read'; } catch (error) { return error.code; } });
assert.deepStrictEqual(codes(['/s/a.js', '/s', '/etc/passwd'], (name) => fs.statSync(name)), Array(3).fill('ERR_ACCESS_DENIED'), 'grader');
assert.deepStrictEqual(await subject.run((load) => load('node:fs').readdirSync('/r').sort()), ['lines.cjs', 'subject.cjs', 'values.cjs'], 'subject');
"""
    verdict = graded(runtime, tmp_path, ECHO, checking(body))
    assert verdict.passed, (verdict, verdict.detail)


# Machines that can't grade


def test_without_node_nothing_is_graded(tmp_path: Path) -> None:
    found = Runtime.find(node=tmp_path / "none", bubblewrap=BUBBLEWRAPS[0])
    assert found.fault is not None
    verdict = graded(found, tmp_path, RIGHT)
    assert (verdict.passed, verdict.failure, verdict.reason) == (False, BROKEN, found.fault)


def node_that(folder: Path, runtime: Runtime, script: str) -> Path:
    """Return an executable that plays Node with a twist."""
    path = folder / "node"
    path.write_text(f"#!/bin/sh\nnode={runtime.machine.node}\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_node_whose_permission_model_does_not_hold_is_found_out(
    runtime: Runtime, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    twist = 'for a; do shift; case "$a" in --*permission|--allow-fs-read=*) ;; *) set -- "$@" "$a" ;; esac; done; exec "$node" "$@"'
    found = Runtime.find(node=node_that(reachable(tmp_path), runtime, twist), bubblewrap=BUBBLEWRAPS[0])
    assert found.fault is not None
    assert found.fault.startswith("the permission model does not hold here (the grader process reads outside)")
    assert graded(found, tmp_path, RIGHT).failure is BROKEN


def test_an_old_node_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    found = Runtime.find(
        node=node_that(reachable(tmp_path), runtime, """echo '["18.19.0",[]]'"""), bubblewrap=BUBBLEWRAPS[0]
    )
    assert found.fault == "Node 18.19.0 is too old; install Node 20 or later"


def reachable(folder: Path) -> Path:
    """Let the unprivileged user pass to a folder of pytest's, which makes them 0700."""
    for part in (folder, *folder.parents):
        if part.stat().st_uid == os.geteuid() and part != Path("/"):
            part.chmod(part.stat().st_mode | 0o011)
    return folder


def test_a_box_that_can_not_start_is_a_fault_of_the_grading(runtime: Runtime, tmp_path: Path) -> None:
    found = Runtime.find(bubblewrap=Path("/usr/bin/false"))
    assert found.fault is not None
    assert graded(found, tmp_path, RIGHT).failure is BROKEN


def test_without_bubblewrap_the_permission_model_still_grades(tmp_path: Path) -> None:
    bare = Runtime.find()
    assert bare.fault is None, bare.fault
    assert graded(bare, tmp_path, RIGHT).passed
    assert graded(bare, tmp_path, INITIAL).reason == "a refund is taken off"


def test_the_runtime_digest_tells_machines_apart(runtime: Runtime) -> None:
    other = replace(runtime, version="20.0.0")
    assert runtime.digest == Runtime.find(bubblewrap=BUBBLEWRAPS[0]).digest != other.digest


# Nothing stays behind


def with_marker(marker: str) -> list[int]:
    """Return the processes that have this word in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def test_no_process_and_no_folder_survives_a_grade(runtime: Runtime, tmp_path: Path) -> None:
    scratch = reachable(tmp_path) / "scratch"
    scratch.mkdir(mode=0o711)
    own = replace(runtime, machine=replace(runtime.machine, scratch=scratch))
    marker = f"Etc/Test{os.getpid()}"
    for files in (
        RIGHT,
        INITIAL,
        {"src/total.js": b"for (;;) {}\n"},
        {"src/total.js": b"process.kill(-1, 'SIGSTOP'); for (;;) {}\n"},
    ):
        graded(own, tmp_path, files, limits=Limits(wall_seconds=2), surroundings=Surroundings(time_zone=marker))
        assert with_marker(marker) == []
        assert list(scratch.iterdir()) == []


def test_killing_the_evaluator_ends_the_grade_with_it(runtime: Runtime, tmp_path: Path) -> None:
    marker = f"Etc/Kill{os.getpid()}"
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "a.js").write_text("for (;;) {}\n")
    (tmp_path / "grader.cjs").write_text(checking(ASK + "await ask(1);"))
    program = (
        "import sys; from pathlib import Path; from eval_tasks.grading.grader import *\n"
        f"r = Runtime.find(bubblewrap=Path({os.fspath(BUBBLEWRAPS[0])!r}))\n"
        f"grade(Path({os.fspath(tmp_path)!r}, 'submission'), Path({os.fspath(tmp_path)!r}, 'grader.cjs'), r, "
        f"limits=Limits(wall_seconds=60), surroundings=Surroundings(time_zone={marker!r}))\n"
    )
    evaluator = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "TMPDIR": os.fspath(reachable(tmp_path))}
    )
    deadline = time.monotonic() + 20
    while len(with_marker(marker)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(with_marker(marker)) >= 2
    evaluator.send_signal(signal.SIGKILL)
    evaluator.wait()
    deadline = time.monotonic() + 5
    while with_marker(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert with_marker(marker) == []
    left = list(tmp_path.glob("g*-*-*"))
    assert [path.name for path in left[0].iterdir() if path.name == "grader"] == ["grader"]
    Runtime.find(bubblewrap=BUBBLEWRAPS[0], scratch=tmp_path)
    assert not left[0].exists()


# Attacks


def sample_attacks() -> dict[str, Opponent]:
    return {opponent.name: opponent for opponent in opponents.attacks(INITIAL, RIGHT, ATTACKS)}


@pytest.mark.parametrize("name", sorted(sample_attacks()))
def test_an_attack_neither_passes_nor_escapes(runtime: Runtime, tmp_path: Path, name: str) -> None:
    attack = sample_attacks()[name]
    opponents.lay(attack, tmp_path / "submission", tmp_path / "outside")
    (tmp_path / "grader.cjs").write_text(GRADER)
    limits = Limits(wall_seconds=2 if attack.waits else 10)
    verdict = grade(tmp_path / "submission", tmp_path / "grader.cjs", runtime, limits=limits)
    assert (verdict.passed, verdict.failure) == (False, attack.code), verdict
    assert ESCAPED not in verdict.detail


def test_there_are_enough_attacks() -> None:
    assert len(sample_attacks()) >= 60


@pytest.mark.parametrize("name", ["read-the-disk", "read-proc", "write-the-disk", "start-processes"])
def test_an_attack_escapes_where_the_permission_model_allows_it(runtime: Runtime, tmp_path: Path, name: str) -> None:
    allowed = ("--allow-fs-read=*", "--allow-fs-write=*", "--allow-child-process", "--allow-worker")
    open_machine = replace(runtime.machine, flags=(*runtime.machine.flags, *allowed))
    opponents.lay(sample_attacks()[name], tmp_path / "submission", tmp_path / "outside")
    (tmp_path / "grader.cjs").write_text(GRADER)
    verdict = grade(tmp_path / "submission", tmp_path / "grader.cjs", replace(runtime, machine=open_machine))
    assert not verdict.passed
    assert ESCAPED in verdict.detail


@pytest.mark.parametrize("name", ["exit-0-at-import", "exit-0-in-exit", "patched-assert"])
def test_an_attack_beats_a_grader_that_shares_its_process(runtime: Runtime, tmp_path: Path, name: str) -> None:
    naive = """const assert = require('node:assert/strict');
const total = require('./submission/src/total.js');
assert.strictEqual(total([{ price: -1, count: 1 }]), -100);
"""
    for attack, status in ((Opponent("initial", "initial", INITIAL), 1), (sample_attacks()[name], 0)):
        folder = tmp_path / attack.name
        folder.mkdir()
        opponents.lay(attack, folder / "submission", folder / "outside")
        (folder / "naive.cjs").write_text(naive)
        done = subprocess.run([runtime.machine.node, folder / "naive.cjs"], capture_output=True, check=False)
        assert done.returncode == status


@pytest.mark.parametrize("opponent", opponents.generic(INITIAL, RIGHT, ATTACKS), ids=lambda opponent: opponent.name)
def test_a_generic_subject_fails(runtime: Runtime, tmp_path: Path, opponent: Opponent) -> None:
    verdict = graded(runtime, tmp_path, opponent.files)
    assert (verdict.passed, verdict.failure) == (False, HIDDEN)


@pytest.mark.parametrize(
    ("weak", "caught"),
    [
        ("assert.equal(await subject.run((load) => load('./src/total.js')([]) === 0), true, 'a');", "yes-to-all"),
        (
            "assert.deepStrictEqual(await subject.run((load, v) => load('./src/total.js')(v), [1, 2]), [1, 2], 'a');",
            "echo",
        ),
        ("await assert.rejects(subject.run((load) => load('./src/total.js')()), Error, 'a');", "throw"),
        ("await assert.rejects(subject.run((load) => load('./src/total.js').length), Error, 'a');", "throw-to-all"),
        (
            "assert.equal((await subject.run((load) => load('./src/total.js').length)), undefined, 'a');",
            "undefined-to-all",
        ),
        (
            "await subject.run((load) => void load('./src/total.js')); assert.equal(await subject.run((load, v) => load('./src/total.js').length + v, 3), 3, 'a');",
            "echo-to-all",
        ),
        ("assert.ok(await subject.run((load) => load('./src/total.js')([])), 'a');", "yes-man"),
        ("assert.equal(await subject.run((load) => load('./src/total.js')([])), undefined, 'a');", "undefined"),
        ("await assert.rejects(subject.run((load) => load('./src/total.js')()), 'a');", "empty-file"),
        (
            "assert.equal(await subject.run((load) => load('./src/total.js')([{ price: 1, count: 1 }])), 100, 'a');",
            "previous-answer",
        ),
    ],
)
def test_a_generic_subject_finds_the_weak_grader_that_it_is_for(
    runtime: Runtime, tmp_path: Path, weak: str, caught: str
) -> None:
    found = {opponent.name: opponent for opponent in opponents.generic(INITIAL, RIGHT, ATTACKS)}
    assert graded(runtime, tmp_path, found[caught].files, checking(weak)).passed


# The grammar of messages

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["ok", "err", "a", "o", "e", "u"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_whatever_is_said_is_a_message_or_is_refused(line: bytes) -> None:
    for parse in (messages.from_subject, messages.from_grader):
        try:
            parse(line)
        except MessageRefused:
            continue


@pytest.mark.parametrize(
    "line",
    [
        b'[true,"ok",null]', b'[1.0,"ok",null]', b'["1","ok",null]', b'[-1,"ok",null]', b'[1,"maybe",null]', b'[1,"ok"]',
        b'[1,"ok",null,null]', b'{"a":1}', b'[1,"ok",{}]', b'[1,"ok",NaN]', b'[1,"ok",1e999]', b'[1,"ok",[]]', b'[1,"ok",["x"]]',
        b'[1,"ok",["o",[["a"]]]]', b'[1,"ok",["o",[[1,2]]]]', b'[1,"ok",["h"]]', b'[1,"ok",["b","*"]]', b'[1,"ok",["d",9e15]]',
        b'[1,"ok",["d",true]]', b'[1,"ok",["i","1e3"]]', b"[" * 100_000, b'[1,"ok",' + b"9" * 5_000 + b"]", b"\xff", b"",
        b'[1,"ok",' + b'["a",[' * 60 + b"]]" * 60 + b"]", b'[1,"ok","' + b"x" * 300_000 + b'"]',
    ],
)  # fmt: skip
def test_a_malformed_answer_is_refused(line: bytes) -> None:
    with pytest.raises(MessageRefused):
        messages.from_subject(line)
