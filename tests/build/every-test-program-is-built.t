# RUN: %python programs.py %root
# Each program and module that a test may need is in a target of `ninja all`: what is not built is
# skipped, and nobody sees it.
==== programs.py
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = "\n".join(p.read_text() for p in sorted([*root.glob("*.ninja"), *root.glob("*/*.ninja")]))
made = re.findall(r"^build \$b/(tests/[\w/.]+): \w*(?:link|module|shared)\w*", text, re.M)
for name in made:
    if len(re.findall(rf"\$b/{re.escape(name)}(?![\w.])", text)) < 2:
        print(name, "is in no target")
print(len(made) > 50)
==== out
True
