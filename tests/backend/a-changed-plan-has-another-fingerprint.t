# RUN: %fsdpc compile -q %root/tests/backend/models/small.fsd -n 2 -o a.bin && cp a.bin b.bin && %python %root/tests/backend/fault.py b.bin
# RUN: for x in a b; do %fsdpc dump --raw $x.bin | sed -n "1s/.*fingerprint//p" >$x; done; test -s a && ! cmp -s a b
# RUN: tail -c +49 b.bin >tail; head -c 48 a.bin | cat - tail >c.bin; %fsdp-run c.bin
# Whoever changes a plan has another plan: its fingerprint is of its contents.
==== err
error: c.bin: checksum mismatch: the file is damaged
help: fsdpc compile model.fsd -o plan.bin makes a plan
==== exit 3
