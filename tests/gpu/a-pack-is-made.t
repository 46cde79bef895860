# RUN: FSDP_BUILD=%build %root/tests/gpu/pack --quick --plans-only --to %t/pack | sed 's/, [0-9.]* s$//; s/, [0-9.]* MiB//; s/: [0-9]* plans/: plans/'
# RUN: cd %t/pack && ls && for plan in plans/*.bin measure/*.bin; do %fsdpc check $plan || echo $plan; done
# RUN: cd %t/pack && %fsdp-run --quiet --log log plans/exact-2.bin && grep -c '"event":"step"' log
# Everything that a GPU machine cannot make lies in one folder, and every plan of it is proved.
# NEEDS: sanitizer:none build:device_cpu.so file:data/bible.txt
# TIME: 120
==== out
tiny-whole-1: 10 steps on the cpu
%t/pack: plans
cases.json
data
exact.fsd
measure
plans
tiny.bin
tokens.bin
x.npy
y.npy
1
