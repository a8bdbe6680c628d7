"""Codes files: the same codes however they are made, complete or not there at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gra2seq
from gra2seq.data.store import Store
from gra2seq.errors import UserError
from gra2seq.formats.files import write
from gra2seq.search.codes import Codes, Shard
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file
from gra2seq.search.keys import Key
from gra2seq.search.work_folder import Existing

COUNT = 100
LAYOUT = Layout(block=16)


def encode(store, out, run, **options):
    options = {"layout": LAYOUT, "engine": LocalEngine(run, jobs=1), **options}
    return encode_to_file([store], out, model=run, **options)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_codes_are_those_of_the_model_and_keys_name_the_drawings(codes, store, tiny_run):
    opened, drawings = Codes.open(codes), Store.open(store)
    opened.verify()
    expected = np.concatenate(
        [gra2seq.load(tiny_run).encode(drawings[start : start + 16]) for start in range(0, COUNT, 16)]
    )
    np.testing.assert_array_equal(opened.array, expected.astype(np.float16))
    lines = codes.with_suffix(".keys").read_bytes().splitlines(keepends=True)
    assert [Key.of_line(line) for line in lines] == [
        Key(0, number, sketch.category, sketch.key) for number, sketch in enumerate(drawings)
    ]
    assert names_in(codes.parent) == ["codes.json", "codes.keys", "codes.npy"]


def test_worker_processes_make_the_same_bytes(codes, store, tiny_run, tmp_path, contents):
    seen = []
    out = tmp_path / "codes.npy"
    encode(store, out, tiny_run, engine=LocalEngine(tiny_run, jobs=2), progress=lambda *so_far: seen.append(so_far))
    assert contents(out) == contents(codes)
    assert seen == sorted(seen)
    assert seen[0] == (0, COUNT)
    assert seen[-1] == (COUNT, COUNT)


def test_shards_in_order_are_the_whole(codes, store, tiny_run, tmp_path):
    parts = []
    for number in (1, 2, 3):
        layout = Layout(Shard(number, 3), block=16)
        made = encode(store, tmp_path / "codes.npy", tiny_run, layout=layout)
        assert made.out.name == f"codes-0000{number}-of-00003.npy"
        parts.append(made.out)
    np.testing.assert_array_equal(np.concatenate([np.load(part) for part in parts]), np.load(codes))
    joined = b"".join(part.with_suffix(".keys").read_bytes() for part in parts)
    assert joined == codes.with_suffix(".keys").read_bytes()


def test_float32_keeps_all_digits(codes, store, tiny_run, tmp_path):
    out = tmp_path / "codes.npy"
    encode(store, out, tiny_run, layout=Layout(dtype="float32", block=16))
    found = np.load(out)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.astype(np.float16), np.load(codes))


def test_files_and_stores_are_counted_one_after_the_other(store, tiny_run, tmp_path):
    drawings = Store.open(store)
    write(tmp_path / "few.ndjson", [("", drawings[number]) for number in (5, 7)])
    out = tmp_path / "codes.npy"
    encode_to_file([tmp_path / "few.ndjson", store], out, model=tiny_run, engine=LocalEngine(tiny_run, jobs=1))
    keys = [Key.of_line(line) for line in out.with_suffix(".keys").read_bytes().splitlines(keepends=True)]
    assert [(key.source, key.number) for key in keys] == [(0, 0), (0, 1), *((1, number) for number in range(COUNT))]
    assert keys[0].key == drawings[5].key


def test_interrupted_encoding_resumes_with_what_is_missing(codes, store, tiny_run, tmp_path, contents):
    out = tmp_path / "codes.npy"

    def stop(done, _total):
        if done >= 48:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(store, out, tiny_run, progress=stop)
    assert names_in(tmp_path) == [".codes.npy.part"]
    with pytest.raises(UserError, match="--resume"):
        encode(store, out, tiny_run)
    with pytest.raises(UserError, match="another --dtype"):
        encode(store, out, tiny_run, layout=Layout(dtype="float32", block=16), existing=Existing.RESUME)
    made = encode(store, out, tiny_run, existing=Existing.RESUME)
    assert made.new == COUNT - 48
    assert contents(out) == contents(codes)
    assert names_in(tmp_path) == ["codes.json", "codes.keys", "codes.npy"]
    assert encode(store, out, tiny_run, existing=Existing.RESUME).new == 0
    with pytest.raises(UserError, match="exists already"):
        encode(store, out, tiny_run)


def test_codes_of_another_model_are_replaced_only_by_force(store, tiny_run, tmp_path, codes, contents):
    out = tmp_path / "codes.npy"
    encode_to_file(["doodles:15"], out, model=tiny_run, engine=LocalEngine(tiny_run, jobs=1))
    with pytest.raises(UserError, match="other drawings"):
        encode(store, out, tiny_run, existing=Existing.RESUME)
    encode(store, out, tiny_run, existing=Existing.REPLACE)
    assert contents(out) == contents(codes)


def test_kill_between_renames_is_finished_by_resume(store, tiny_run, tmp_path, codes, contents, monkeypatch):
    import gra2seq.search.work_folder as module

    renames = []

    def replace(source, target):
        if len(renames) == 2:
            raise KeyboardInterrupt
        renames.append(target)
        os.rename(source, target)

    out = tmp_path / "codes.npy"
    monkeypatch.setattr(module.os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        encode(store, out, tiny_run)
    monkeypatch.undo()
    with pytest.raises(UserError, match=r"no codes\.json"):
        Codes.open(out)
    encode(store, out, tiny_run, existing=Existing.RESUME)
    assert contents(out) == contents(codes)


def test_two_processes_cannot_write_the_same_codes(store, tiny_run, tmp_path):
    from gra2seq.search.work_folder import WorkFolder

    with WorkFolder(tmp_path / "codes.npy").locked(), pytest.raises(UserError, match="another process"):
        encode(store, tmp_path / "codes.npy", tiny_run)


def test_failed_encoding_leaves_nothing(store, tiny_run, tmp_path):
    for sources, problem in (
        ([tmp_path / "none"], "does not exist"),
        ([tmp_path], "holds no drawing"),
        ([], "no draw"),
    ):
        with pytest.raises(UserError, match=problem):
            encode_to_file(sources, tmp_path / "codes.npy", model=tiny_run)
    with pytest.raises(UserError, match="no model at"):
        encode_to_file([store], tmp_path / "codes.npy", model=tmp_path / "none")
    with pytest.raises(UserError, match="is empty"):
        encode(store, tmp_path / "codes.npy", tiny_run, layout=Layout(Shard(9, 5000)))
    with pytest.raises(UserError, match=r"codes\.npy"):
        encode(store, tmp_path / "codes", tiny_run)
    with pytest.raises(UserError, match="dtype"):
        Layout(dtype="float8")
    assert names_in(tmp_path) == []


def test_killed_worker_is_an_error_and_resume_goes_on(store, tiny_run, tmp_path, codes, contents):
    import multiprocessing

    out = tmp_path / "codes.npy"

    def kill(done, _total):
        if done == 16:
            for child in multiprocessing.active_children():
                os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(UserError, match=r"SIGKILL.*--resume"):
        encode(store, out, tiny_run, engine=LocalEngine(tiny_run, jobs=2), progress=kill)
    encode(store, out, tiny_run, existing=Existing.RESUME)
    assert contents(out) == contents(codes)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/", "-1/2", "²/3"])
def test_shards_are_numbered_from_one(text):
    with pytest.raises(UserError, match="such as 2/8"):
        Shard.parse(text)


@pytest.mark.parametrize("blocks", [1, 5, 16, 1000])
@pytest.mark.parametrize("of", [1, 3, 7])
def test_every_block_is_in_one_shard(blocks, of):
    found = [block for number in range(1, of + 1) for block in Shard(number, of).blocks(blocks)]
    assert found == list(range(blocks))


def test_keys_keep_any_text():
    for text in ("", "a\tb\nc\\t", "\\", "käse\r", "\ud800", "\\n"):
        key = Key(3, 14, text, text)
        assert Key.of_line(key.line()) == key
        assert key.line().count(b"\n") == 1


SCRIPT = """
import sys
from pathlib import Path
from gra2seq.search.encode import Layout, LocalEngine, encode_to_file
from gra2seq.search.work_folder import Existing
store, out, run, jobs = sys.argv[1:]
encode_to_file(
    [store], out, model=run, layout=Layout(block=16), existing=Existing.RESUME, engine=LocalEngine(run, int(jobs))
)
"""


@pytest.mark.slow
def test_worker_processes_killed_with_their_command_leave_the_same_codes(store, tiny_run, tmp_path, codes, contents):
    script = tmp_path / "encode.py"
    script.write_text(f"if __name__ == '__main__':\n    {SCRIPT.strip().replace(chr(10), chr(10) + '    ')}\n")
    out = tmp_path / "out" / "codes.npy"
    command = [sys.executable, script, store, out, tiny_run, "2"]
    began = time.monotonic()
    subprocess.run([*command[:3], tmp_path / "timing" / "codes.npy", *command[4:]], check=True)
    seconds = time.monotonic() - began
    random = np.random.default_rng(0)
    killed = 0
    for _ in range(5):
        with subprocess.Popen(command) as process:
            time.sleep(random.uniform(0.4, 1.0) * seconds)
            killed += process.poll() is None
            process.kill()
        for path in out.parent.glob("*.npy"):
            assert np.load(path).shape == (COUNT, np.load(codes).shape[1])
        if out.with_suffix(".json").exists():
            Codes.open(out).verify()
    assert killed
    subprocess.run(command, check=True)
    assert contents(out) == contents(codes)
    assert names_in(out.parent) == ["codes.json", "codes.keys", "codes.npy"]
