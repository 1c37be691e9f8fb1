import hashlib
import os
import time

import pytest

from eval_tasks import digests
from eval_tasks.errors import ExperimentStopped


def aged(path, content):
    """Write a file that is old enough for its digest to be cached."""
    path.write_bytes(content)
    past = time.time_ns() - 10**10
    os.utime(path, ns=(past, past))


def test_a_digest_is_sha_256():
    assert digests.of_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_order_of_entries_does_not_matter():
    assert digests.of_entries({"a": "1", "b": "2"}) == digests.of_entries({"b": "2", "a": "1"})
    assert digests.of_entries({"a": "1", "b": "2"}) != digests.of_entries({"a": "2", "b": "1"})


def test_a_file_is_read_once_while_its_identity_stays(tmp_path, monkeypatch):
    path = tmp_path / "x"
    aged(path, b"one")
    time.sleep(0.06)  # The change time can't be set back; wait until it is no longer fresh.
    cache = digests.DigestCache()
    first = cache.of_file(path)

    def refuse(*_arguments):
        raise AssertionError("read again")

    monkeypatch.setattr(hashlib, "file_digest", refuse)
    assert cache.of_file(path) == first


def test_an_edit_that_keeps_size_and_modification_time_is_noticed(tmp_path):
    path = tmp_path / "x"
    aged(path, b"one")
    time.sleep(0.06)
    cache = digests.DigestCache()
    first = cache.of_file(path)
    status = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert cache.of_file(path) == digests.of_bytes(b"two") != first


def test_links_and_special_files_have_no_digest(tmp_path):
    (tmp_path / "x").write_bytes(b"one")
    (tmp_path / "link").symlink_to("x")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo"):
        with pytest.raises(ExperimentStopped, match=f"^{name} is not a regular file"):
            digests.of_file(tmp_path / name)
    with pytest.raises(ExperimentStopped, match="is a link"):
        digests.of_folder(tmp_path)


def test_a_folder_has_the_digest_of_every_file_below_it(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "y").write_bytes(b"2")
    (tmp_path / "x").write_bytes(b"1")
    assert digests.of_folder(tmp_path) == {"a/y": digests.of_bytes(b"2"), "x": digests.of_bytes(b"1")}


def test_identities_change_with_any_file_but_not_with_compiled_python(tmp_path):
    (tmp_path / "x.py").write_bytes(b"1")
    before = digests.identities([tmp_path])
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"1")
    assert digests.identities([tmp_path]) == before
    (tmp_path / "new.py").write_bytes(b"1")
    assert digests.identities([tmp_path]) != before


def test_the_digest_of_a_large_file_is_kept_between_processes_without_its_path(tmp_path, monkeypatch):
    path, folder = tmp_path / "secret-name", tmp_path / "kept"
    aged(path, b"x" * (5 * 1024 * 1024))
    time.sleep(0.06)
    first = digests.DigestCache(folder).of_file(path)
    assert len(list(folder.iterdir())) == 1
    assert b"secret-name" not in b"".join(entry.name.encode() + entry.read_bytes() for entry in folder.iterdir())
    with monkeypatch.context() as patched:
        patched.setattr(hashlib, "file_digest", None)
        assert digests.DigestCache(folder).of_file(path) == first
    path.write_bytes(b"y" * (5 * 1024 * 1024))
    assert digests.DigestCache(folder).of_file(path) != first
