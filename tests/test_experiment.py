from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_tasks import experiment, options, records
from eval_tasks.errors import ExperimentStopped
from eval_tasks.experiment import FLAGS
from eval_tasks.paths import Project

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Give a project with the settings of this repository."""
    shutil.copy(PROJECT / "eval.yaml", tmp_path / "eval.yaml")
    return Project(tmp_path)


def change(project: Project, *place: str, to: Any) -> None:
    """Change one setting of `eval.yaml`."""
    value = yaml.safe_load(project.settings.read_text("utf-8"))
    target = value
    for part in place[:-1]:
        target = target[part]
    target[place[-1]] = to
    project.settings.write_text(yaml.safe_dump(value, sort_keys=False), "utf-8")


def refusal(project: Project, **overrides: Any) -> str:
    with pytest.raises(ExperimentStopped) as caught:
        experiment.load(project, overrides)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_settings_of_this_repository_are_a_rehearsal_without_overrides(project: Project) -> None:
    found = experiment.load(project, {})
    assert found.rehearsing
    assert found.corpus == "corpus"
    assert found.value["authentication"] == "none"
    assert found.overrides == {}
    assert records.problems("experiment", found.value) == []


def test_the_defaults_are_those_of_the_seed(project: Project) -> None:
    limits = experiment.load(project, {}).limits
    assert (limits["calls"], limits["deadlineSeconds"], limits["callSeconds"]) == (300, 3600, 300)
    assert limits["proposalSeconds"] == 30


def test_an_override_lands_at_its_place_and_changes_nothing_else(project: Project) -> None:
    plain = experiment.load(project, {})
    wanted = {
        "agentVersion": ("agent", "version", "0.154.0"),
        "model": ("agent", "model", "gpt-6"),
        "effort": ("agent", "effort", "high"),
        "repeats": ("repeats", 7),
        "maxCalls": ("limits", "calls", 2000),
        "deadline": ("limits", "deadlineSeconds", 14400),
        "callTimeout": ("limits", "callSeconds", 600),
        "isolation": ("isolation", "agent-sandbox"),
    }
    assert set(wanted) | {"backend"} == set(FLAGS)
    for name, (*place, value) in wanted.items():
        found = experiment.load(project, {name: value})
        expected: Any = copy.deepcopy(dict(plain.value))
        target = expected
        for part in place[:-1]:
            target = target[part]
        target[place[-1]] = value
        assert found.value == expected != plain.value
        assert found.overrides == {name: value}


def test_a_flag_that_was_not_given_overrides_nothing(project: Project) -> None:
    assert experiment.load(project, dict.fromkeys(FLAGS)) == experiment.load(project, {})


def test_overrides_are_kept_in_one_order_whatever_the_command_line_had(project: Project) -> None:
    one = experiment.load(project, {"repeats": 2, "model": "m"}).overrides
    other = experiment.load(project, {"model": "m", "repeats": 2}).overrides
    assert list(one) == list(other) == ["model", "repeats"]


def test_overrides_never_change_the_file(project: Project) -> None:
    before = project.settings.read_bytes()
    experiment.load(project, {"repeats": 3, "backend": "codex"})
    assert project.settings.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("maxCalls", 2001, "--max-calls 2001: breaks maximum 2000"),
        ("deadline", 14401, "--deadline 14401: breaks maximum 14400"),
        ("callTimeout", 601, "--call-timeout 601: breaks maximum 600"),
        ("maxCalls", 0, "--max-calls 0: breaks minimum 1"),
        ("repeats", -1, "--repeats -1: breaks minimum 1"),
        ("repeats", 101, "--repeats 101: breaks maximum 100"),
        ("backend", "claude", "--backend claude: must be one of rehearsal, codex"),
        ("isolation", "none", "--isolation none: must be one of sealed, agent-sandbox"),
        ("effort", "huge", "--effort huge: must be one of none, minimal, low, medium, high, xhigh"),
        ("model", "../gpt", "--model ../gpt: breaks pattern"),
        ("agentVersion", "0.1 beta", "--agent-version 0.1 beta: breaks pattern"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_flag(
    project: Project, name: str, value: Any, said: str
) -> None:
    assert refusal(project, **{name: value}).startswith(said)


def test_every_flag_of_an_override_is_an_option_of_register() -> None:
    assert set(FLAGS.values()) <= {f"--{option['long']}" for option in options.REGISTER}


@pytest.mark.parametrize(
    ("place", "maximum"),
    [("calls", 2_000), ("deadlineSeconds", 4 * 3_600), ("callSeconds", 600), ("proposalSeconds", 30)],
)
def test_no_setting_exceeds_a_hard_limit(project: Project, place: str, maximum: int) -> None:
    change(project, "limits", place, to=maximum)
    assert experiment.load(project, {}).limits[place] == maximum
    change(project, "limits", place, to=maximum + 1)
    said = refusal(project)
    assert said.startswith("eval.yaml:")
    assert said.endswith(f"limits.{place}: breaks maximum {maximum}")


@pytest.mark.parametrize("place", ["calls", "deadlineSeconds", "callSeconds", "proposalSeconds"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "1", None, True])
def test_a_limit_is_a_whole_number_above_zero(project: Project, place: str, value: Any) -> None:
    change(project, "limits", place, to=value)
    assert f"limits.{place}: " in refusal(project)


def test_a_setting_that_is_wrong_is_named_with_its_line(project: Project) -> None:
    lines = project.settings.read_text("utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, start=1) if line.startswith("isolation:"))
    change_line = lines.copy()
    change_line[number - 1] = "isolation: open"
    project.settings.write_text("\n".join(change_line), "utf-8")
    assert refusal(project) == f"eval.yaml:{number}: isolation: must be one of sealed, agent-sandbox"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("consent",), True),
        (("allowRealProvider",), True),
        (("agent", "allowRealProvider"), True),
        (("limits", "retries"), 3),
        (("workRoot",), "/tmp"),
    ],
)
def test_no_setting_can_give_consent_or_hold_anything_unknown(
    project: Project, place: tuple[str, ...], value: Any
) -> None:
    change(project, *place, to=value)
    assert f"unknown key '{place[-1]}'" in refusal(project)


def test_the_baseline_arm_can_not_be_left_out(project: Project) -> None:
    change(project, "arms", to=["manual-lean", "auto-lean"])
    assert "arms: " in refusal(project)
    change(project, "arms", to=["full", "full"])
    assert "arms: " in refusal(project)
    change(project, "arms", to=["auto-lean", "full"])
    assert experiment.load(project, {}).value["arms"] == ["auto-lean", "full"]


@pytest.mark.parametrize("folder", ["/etc", "../skills", "skills/../..", "skills/.."])
def test_the_skills_folder_of_a_package_can_not_lead_out_of_it(project: Project, folder: str) -> None:
    change(project, "library", to={"npm": "ecc-universal", "version": "2.0.0", "skills": folder})
    assert "library: breaks pattern" in refusal(project)


def test_settings_that_are_missing_are_named(tmp_path: Path) -> None:
    assert refusal(Project(tmp_path)).startswith("eval.yaml: there is no such file")


# The authentication mode


def test_a_rehearsal_never_authenticates(project: Project) -> None:
    for setting in ("none", "login-home", "api-key"):
        change(project, "authentication", to=setting)
        assert experiment.load(project, {}).value["authentication"] == "none"
        assert experiment.load(project, {"authentication": "login-home"}).value["authentication"] == "none"


@pytest.mark.parametrize(
    ("setting", "flag", "mode"),
    [
        ("none", None, "api-key"),
        ("api-key", None, "api-key"),
        ("login-home", None, "login-home"),
        ("none", "login-home", "login-home"),
        ("api-key", "login-home", "login-home"),
    ],
)
def test_a_real_provider_has_the_login_home_that_was_asked_for_and_else_an_api_key(
    project: Project, setting: str, flag: str | None, mode: str
) -> None:
    change(project, "authentication", to=setting)
    found = experiment.load(project, {"backend": "codex", "authentication": flag})
    assert found.value["authentication"] == mode
    assert (
        records.problems("experiment", {key: value for key, value in found.value.items() if key != "rehearsal"}) == []
    )


def test_a_real_provider_has_no_rehearsal_script(project: Project) -> None:
    found = experiment.load(project, {"backend": "codex"})
    assert not found.rehearsing
    assert found.value["rehearsal"] is None


def test_rehearsing_overrides_a_file_that_says_otherwise(project: Project) -> None:
    change(project, "agent", "backend", to="codex")
    assert not experiment.load(project, {}).rehearsing
    found = experiment.load(project, {"backend": "rehearsal"})
    assert found.rehearsing
    assert found.value["rehearsal"] == {"default": "oracle"}


@pytest.mark.parametrize("value", [".nan", "2020-01-01", '"\\ud800"', "!!binary aGk=", "{1: x}", "{<<: {a: 1}}"])
def test_a_script_holds_nothing_that_a_registration_could_not(project: Project, value: str) -> None:
    text = project.settings.read_text("utf-8").replace("{default: oracle}", f"{{default: {value}}}")
    project.settings.write_text(text, "utf-8")
    said = refusal(project)
    assert said.startswith(f"eval.yaml:{text[: text.index('{default')].count(chr(10)) + 1}: ")


# Places


def test_a_place_is_found_relative_to_the_settings_and_named_when_it_is_missing(project: Project) -> None:
    (project.root / "mine").mkdir()
    assert experiment.folder(project, "mine", "corpus") == (project.root / "mine").resolve()
    assert experiment.folder(project, "../" + project.root.name, "corpus") == project.root.resolve()
    with pytest.raises(ExperimentStopped, match=r"^eval\.yaml: profiles\.full: there is no such file or folder"):
        experiment.folder(project, "gone.yaml", "profiles.full")
