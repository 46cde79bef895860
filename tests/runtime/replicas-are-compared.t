# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; mkdir bin && cp %fsdp-run bin/fsdp-run && cp %build/device_cpu.so bin/device_real.so && cp %build/tests/modules/unequal.so bin/device_cpu.so
# RUN: for o in adamw muon adafactor; do for m in dp=3 rep=2,dp=2 dp=2,tp=2 tp=4 cp=5 "rep=2,dp=2,tp=2"; do %fsdpc compile -q net.fsd -o p --mesh $m -s train.steps=2 -s train.batch=24 -s train.accumulate=2 -s "train.optimizer=$o(lr = 0.01)" && FSDP_CHECK=replicas bin/fsdp-run -q p || echo "$o $m: $?"; done; done; echo equal
# RUN: %fsdpc compile -q net.fsd -o p --mesh rep=2,dp=2 && UNEQUAL_OP=adam UNEQUAL_RANK=2 UNEQUAL_LAUNCH=2 FSDP_CHECK=replicas bin/fsdp-run -q p; echo $?
# RUN: %fsdpc compile -q net.fsd -o p --mesh dp=2,tp=2 -s shard.rows=false -s 'shard."h.*"=whole(tp)' && UNEQUAL_OP=linear UNEQUAL_RANK=3 UNEQUAL_LAUNCH=1 FSDP_CHECK=replicas bin/fsdp-run -q p; echo $?
# RUN: UNEQUAL_OP=linear UNEQUAL_RANK=3 UNEQUAL_LAUNCH=1 bin/fsdp-run -q p; echo $?
# RUN: FSDP_TEST_STREAMS=3 FSDP_CHECK=replicas bin/fsdp-run -q p; FSDP_CHECK=replicas bin/fsdp-run -q --overlap on p; FSDP_CHECK=copies bin/fsdp-run -q p; echo $?
# RUN: %fsdpc compile -q net.fsd -o p -n 1 && FSDP_CHECK=replicas bin/fsdp-run -q p
# FSDP_CHECK=replicas ends a run in which ranks that must have equal copies of a value or a state do not, and says which.
# NEEDS: build:tests/modules/unequal.so build:device_cpu.so sanitizer:none
# TIME: 120
==== out
equal
4
4
0
1
==== err
error: replica check: ranks 0 and 2 must have equal copies along rep: element 0 of result 0 of net.fsd:17:9: adam #90 is bc23f507 on the one and bc23f506 on the other
error: replica check: ranks 2 and 3 must have equal copies along tp: element 0 of result 0 of h.0.b net.fsd:5:20: linear #18 is 38049e65 on the one and 38049e64 on the other
error: FSDP_CHECK=replicas relies on the issue order, which FSDP_TEST_STREAMS does not keep: use one of them
error: --overlap on and FSDP_CHECK=replicas exclude each other
help: leave out one of them
error: FSDP_CHECK=copies: not a valid value; fsdp-run --help lists them
error: FSDP_CHECK=replicas compares ranks that are threads of one process on device cpu: use --transport local and a plan for several ranks
==== exit 1
