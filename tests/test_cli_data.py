"""`gra2seq data …`: what it answers, to people and to programs."""

from __future__ import annotations

import json

from gra2seq.data.doodles import doodles
from gra2seq.data.store_writer import write_store


def test_verify_names_the_damaged_file_and_exits_with_2(call, tmp_path):
    good, bad = (write_store(tmp_path / name, [("", s) for s in doodles(5, seed=0)]).path for name in ("a", "b"))
    code, out, err = call("data", "verify", good)
    assert (code, out) == (0, "")
    assert "is sound" in err
    content = (bad / "keys.bin").read_bytes()
    (bad / "keys.bin").write_bytes(b"X" + content[1:])
    code, out, err = call("data", "verify", good, bad)
    assert code == 2
    assert "keys.bin is damaged (at the drawings 0 to 4)" in " ".join(err.split())
    code, out, _ = call("data", "verify", "--json", good, bad)
    answer = json.loads(out)
    assert (code, answer["sound"]) == (2, False)
    assert [store["sketches"] for store in answer["stores"]] == [5, 0]
    assert answer["stores"][0]["problem"] == ""
    assert "keys.bin is damaged" in answer["stores"][1]["problem"]
