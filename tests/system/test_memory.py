"""What a programme asks of Python's and the C library's memory, and a library does not."""

import subprocess
import sys

from gra2seq.system.memory import GC_THRESHOLD

PROGRAMME = """
import contextlib, gc, sys
usual = gc.get_threshold()
from gra2seq.cli import main
before = gc.get_threshold() == usual, gc.get_freeze_count()
sys.argv = ["gra2seq", *sys.argv[1:]]
with contextlib.suppress(SystemExit):
    main()
print(*before, gc.get_threshold()[0], gc.get_freeze_count() > 1000, file=sys.stderr)
"""


def test_commands_collect_garbage_less_often_and_not_at_exit():
    """Also when it ends with an error; importing alone changes nothing."""
    for words in (["--help"], ["heal", "no-such-file.svg"]):
        done = subprocess.run([sys.executable, "-c", PROGRAMME, *words], capture_output=True, text=True, check=True)
        assert done.stderr.splitlines()[-1] == f"True 0 {GC_THRESHOLD} True"
