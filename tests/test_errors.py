from __future__ import annotations

import pickle

import pytest

from gra2seq.errors import MAX_MESSAGE, UserError, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Käse 🐱 日本", "Käse 🐱 日本"),
        ("two\nlines\r\t", r"two\nlines\r\t"),
        ("\x1b[31mred\x07\x9b", r"\x1b[31mred\x07\x9b"),
        ("a\u202eb\u2028", r"a\u202eb\u2028"),
        ("half \ud800", r"half \ud800"),
        (r"C:\names\x1b", r"C:\names\x1b"),
    ],
)
def test_control_characters_are_escaped_once(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert str(UserError(text)) == shown
    assert str(UserError(UserError(text))) == shown


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    message = str(UserError(f"/a/file.npz: {'x' * 9000}: fetch it again"))
    assert len(message) == MAX_MESSAGE
    assert message.startswith("/a/file.npz: xxx")
    assert message.endswith("xxx: fetch it again")
    assert " … " in message


def test_an_error_survives_a_way_through_another_process() -> None:
    error = pickle.loads(pickle.dumps(UserError("what is wrong\n")))
    assert isinstance(error, UserError)
    assert str(error) == r"what is wrong\n"
