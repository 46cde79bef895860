"""Counts the different mistakes of users that the goldens of tests/frontend contain.

    mistakes.py ROOT LEAST

A mistake is an error message with its code in an expected output; quoted text and numbers do not
count, so two misspelt keys are one mistake. Prints that there are at least LEAST, or how many there
are, and which codes of model files (E01 to E04) occur in no golden of tests.
"""

import pathlib
import re
import sys

root, least = pathlib.Path(sys.argv[1]), int(sys.argv[2])
ERROR = re.compile(r"^error\[(E\d+)\]: (.*)", re.M)
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|\[[^\]]*\]|\d[\d.e+-]*")


def expected(path):
    """what a test expects to be printed"""
    parts = re.split(r"^==== ?(.*)$", path.read_text(errors="replace"), flags=re.M)
    return "\n".join(text for name, text in zip(parts[1::2], parts[2::2]) if name in ("out", "err"))


def errors(paths):
    return [found for path in paths for found in ERROR.findall(expected(path))]


goldens = root.glob("tests/frontend/*.t")
mistakes = {(code, QUOTED.sub("..", text)) for code, text in errors(goldens)}
shown = {code for code, _ in errors(root.glob("tests/**/*.t"))}
rows = re.findall(r"^DIAG\((E0[1-4]\d\d)", (root / "ir/base/diag_codes.def").read_text(), re.M)
print(f"at least {least} mistakes" if len(mistakes) >= least else f"{len(mistakes)} mistakes")
for code in rows:
    if code not in shown:
        print(f"no golden shows {code}")
