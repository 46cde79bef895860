# RUN: cp %root/tests/checkpoint/toy.fsd . && echo 'config hf { model_type = "toy" }' >> toy.fsd
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p && for s in 1 2; do %fsdp-run -q --steps $s --save w$s p; done; python3 %root/tests/checkpoint/saves.py %fsdp-run %build/tests/modules/recorder.so p w1 w2
# Whatever a loss of power leaves of a save: the old weights, the new ones, or what is refused; and the new ones once the
# run has ended.
# NEEDS: build:device_cpu.so build:tests/modules/recorder.so sanitizer:none
# TIME: 300
==== out
nothing to file: refused, w2
file to file: w1, w2
nothing to parts: refused, w2
one to one: refused, w1, w2
one to parts: refused, w1, w2
parts to parts: refused, w1, w2
parts to one: refused, w1, w2
