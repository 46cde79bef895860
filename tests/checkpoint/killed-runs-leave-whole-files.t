# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p -s checkpoint.form=full && %fsdp-run -q --threads 1 --log l --save w p && python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w killed 9 && for how in full broken interrupted short; do python3 %root/tests/checkpoint/crash.py %fsdp-run %build/tests/modules/crash.so p l w $how 13; done
# Checkpoints of form full, to whose files both ranks write, are whole or none as others are: killed at a call that changes
# files, on a full or failing disk, and with calls that are interrupted or cut short.
# NEEDS: build:device_cpu.so build:tests/modules/crash.so sanitizer:none
# TIME: 300
==== out
killed: killed
full: exit 0, exit 2
broken: exit 0, exit 2
interrupted: exit 0, exit 2
short: exit 0
