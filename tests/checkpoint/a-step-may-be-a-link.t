# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -n 2 -o p; run() { %fsdp-run -q --threads 1 "$@" p; }; run --save w; run --checkpoint ck --checkpoint-every 2 --steps 4; mkdir else; mv ck/step-00000004 else; ln -s ../else/step-00000004 ck; run --resume-or-start ck --checkpoint-every 1 --save v; cmp v w; ls ck; %fsdpc check else/step-00000004
# RUN: ln -s else/step-00000004 latest; run() { %fsdp-run -q --threads 1 "$@" p; }; run --resume latest --checkpoint else --save u; cmp u w; ls else
# A run resumes from a step that was moved elsewhere and linked, and retention removes only the link.
# NEEDS: build:device_cpu.so
==== out
lock
step-00000005
step-00000006
lock
step-00000004
step-00000006
