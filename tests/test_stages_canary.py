"""What a real provider has to show before the first trial: played by the real Codex with a loopback model behind it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eval_tasks.rehearsal.behaviour import Behaviour, Fault, Reply, Run, Say, Silence
from eval_tasks.rehearsal.model import Endpoint, LoopbackModel
from eval_tasks.stages import canary
from tests.chaos import agents, places
from tests.laboratory import Laboratory

pytestmark = pytest.mark.agent

RUN = ("run_eval", "--allow-real-provider")
KEY = {"CODEX_API_KEY": "sk-of-this-test"}
SILENT = Behaviour("is silent", (Say(""),), fault=Fault(reply=Reply(silence=Silence.BEFORE_HEADERS)))
TALKS = Behaviour("talks", (Say("I have written it."),))
WRITES = Behaviour("writes", (Run(f"printf 'it works' > {canary.FILE}"), Say("Done.")))

SINGS = """
url={lean}; [ "$many" -gt 3 ] && url={full}
real "$@" -c 'model_provider="ours"' -c "model_providers.ours={{name=\\"ours\\",base_url=\\"$url\\",wire_api=\\"responses\\",env_key=\\"CODEX_API_KEY\\"}}"
"""  # noqa: E501

LIMITED = """
start; echo '{"type":"turn.failed","error":{"message":"You have hit your usage limit."}}'; exit 1
"""


@pytest.fixture
def endpoints() -> Iterator[dict[str, Endpoint]]:
    with LoopbackModel() as model, model.play(TALKS) as full, model.play(SILENT) as lean:
        yield {"full": full, "lean": lean}


def calls(lab: Laboratory) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(lab.experiment / "journal.db")) as journal:
        return journal.execute("SELECT phase, claim FROM calls ORDER BY rowid").fetchall()


def test_one_canary_call_on_each_install_passes_before_the_first_trial_and_is_made_once(
    laboratory: Callable[..., Laboratory], tmp_path: Path, endpoints: dict[str, Endpoint]
) -> None:
    lab = laboratory(cases=[places.silent_case()], probes=[places.silent_probe()])
    lab.settings(library=places.give_small_library(lab.root, "seo"))
    urls = {name: endpoint.base_url for name, endpoint in endpoints.items()}
    agent = agents.package(tmp_path / "agent", {}, {}, default=LIMITED, most_lean=3, canary=SINGS.format(**urls))
    assert "at most 7 calls" in lab.ok("register", "--backend", "codex", "--executable", str(agent))

    said = lab.stopped(*RUN, **KEY)
    assert said.startswith("the canary call on install full left no file: mend the cause ")
    assert said.endswith("no trial was claimed")
    assert "\n" not in said
    assert calls(lab) == [("canary", "canary:full:0")]
    assert lab.records("arm-runs") == {}

    # It is made again, since it has not passed; the other one dies with the evaluator.
    endpoints["full"].behaviour = WRITES
    assert lab.kill_when(lambda: endpoints["lean"].request_count > 0, *RUN, **KEY) == -9
    assert lab.ok("recover") == "canary:lean:2: interrupted\n"
    assert lab.records("arm-runs") == {}

    # What has passed is not repeated; only then comes the first trial.
    endpoints["lean"].behaviour = WRITES
    ran = lab.doit(*RUN, **KEY)
    assert "the provider's quota or usage limit is reached" in ran.stderr
    assert re.findall("doctor: all .* ok", ran.stdout)
    assert re.findall("canary call on install .*", ran.stdout) == ["canary call on install lean: it wrote its file"]
    made = [claim for _, claim in calls(lab)]
    assert made == ["canary:full:0", "canary:full:1", "canary:lean:2", "canary:lean:3", *lab.records("arm-runs")]
    assert len(made) == 5

    lab.ok("run_eval", "--settle", *RUN[1:], **KEY)
    assert "5 of at most" in lab.ok("status")
    lab.ok("report")
    lab.ok("verify")
    assert lab.report["calls"]["total"] == 5
    assert len(lab.report["outcomes"]) == 3


def test_a_real_provider_is_not_called_on_a_machine_that_the_doctor_finds_unfit(
    laboratory: Callable[..., Laboratory],
) -> None:
    lab = laboratory(cases=[places.silent_case()], probes=[places.silent_probe()])
    lab.settings(library=places.give_small_library(lab.root))
    lab.ok("register", "--backend", "codex", "--accept-shortfall")
    said = lab.stopped(*RUN)
    assert said.startswith("1 of 12 checks want mending\n")
    assert "FIX  credential             CODEX_API_KEY is not set; set it, or register with --auth-home" in said
    assert said.count("\nok   ") == 11
    assert calls(lab) == []
