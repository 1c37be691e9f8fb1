import os
import stat

import pytest

from eval_tasks import files
from eval_tasks.errors import FailureCode, TrialFailed

CONTENTS = {"README.md": b"hello\n", "src/a.js": b"module.exports = 1;\n"}


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "w"
    files.write_tree(folder, CONTENTS)
    return folder


def test_an_untouched_workspace_has_the_digest_of_its_contents(workspace, tmp_path):
    assert files.seal(workspace, tmp_path / "sealed") == files.digest_of_contents(CONTENTS)
    assert not workspace.exists()
    assert (tmp_path / "sealed" / "src" / "a.js").read_bytes() == CONTENTS["src/a.js"]


def test_any_change_changes_the_digest(tmp_path):
    changes = [
        lambda w: (w / "README.md").write_bytes(b"other"),
        lambda w: (w / "README.md").unlink(),
        lambda w: (w / "empty").mkdir(),
        lambda w: os.mkfifo(w / "fifo"),
        lambda w: (w / "link").symlink_to("/etc/passwd"),
    ]
    found = {files.digest_of_contents(CONTENTS)}
    for number, change in enumerate(changes):
        folder = tmp_path / f"w{number}"
        files.write_tree(folder, CONTENTS)
        change(folder)
        found.add(files.seal(folder, tmp_path / f"s{number}"))
    assert len(found) == 1 + len(changes)


def test_what_a_killed_sandbox_leaves_is_removed_before_the_digest(workspace, tmp_path):
    for name in (".git", ".agents", ".codex"):
        (workspace / name).mkdir()
    assert files.seal(workspace, tmp_path / "sealed") == files.digest_of_contents(CONTENTS)


def test_setuid_bits_odd_modes_and_odd_names_survive_nothing(workspace, tmp_path):
    (workspace / "README.md").chmod(0o4755)
    (workspace / "closed").mkdir(mode=0o700)
    (workspace / "closed" / "x").write_bytes(b"1")
    (workspace / "closed").chmod(0)
    (workspace / os.fsdecode(b"\xff\xfe")).write_bytes(b"1")
    files.seal(workspace, tmp_path / "sealed")
    assert stat.S_IMODE((tmp_path / "sealed" / "README.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "sealed" / "closed").stat().st_mode) == 0o700
    assert files.remove_tree(tmp_path / "sealed")


def test_links_are_sealed_as_links_and_never_followed(workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"1")
    (workspace / "link").symlink_to(outside)
    files.seal(workspace, tmp_path / "sealed")
    assert (tmp_path / "sealed" / "link").is_symlink()
    assert files.remove_tree(tmp_path / "sealed")
    assert (outside / "x").read_bytes() == b"1"


def test_a_submission_of_too_many_bytes_is_an_output_limit(workspace, tmp_path):
    with open(workspace / "big", "wb") as stream:
        stream.truncate(files.SEALED_BYTES + 1)
    with pytest.raises(TrialFailed) as caught:
        files.seal(workspace, tmp_path / "sealed")
    assert (caught.value.code, caught.value.limit) == (FailureCode.OUTPUT_LIMIT, "output")


def test_a_tree_is_removed_whatever_its_modes_are(workspace):
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "b" / "x").write_bytes(b"1")
    (workspace / "a" / "b").chmod(0)
    (workspace / "a").chmod(0o500)
    assert files.remove_tree(workspace)
    assert not workspace.exists()


def test_removing_what_is_not_there_is_no_fault(tmp_path):
    assert files.remove_tree(tmp_path / "nothing")
