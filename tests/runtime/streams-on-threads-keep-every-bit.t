# RUN: cp %root/tests/runtime/blocks.fsd net.fsd && seq 300 > t.txt; for n in 2 3; do %fsdpc compile -q net.fsd -o p -n $n -s train.batch=24 -s train.accumulate=2 -s train.precision=bf16 && for o in off on; do %fsdp-run -q --overlap $o --threads 1 --save %t/$o --dump-grads 3=%t/$o.grads p || exit; done; cmp %t/off %t/on && cmp %t/off.grads %t/on.grads && echo same; done
# RUN: %fsdpc compile -q net.fsd -o p -n 2 -s train.batch=24 -s train.accumulate=3 && %fsdp-run -q --threads 1 --overlap off --save a p && for seed in 1 2 3 4; do FSDP_TEST_STREAMS=$seed %fsdp-run -q --threads 1 --save b p && cmp a b && echo same; done
# Streams on threads of their own, beside the computation or in random order with slow collectives, change no bit of
# weights or gradients.
# NEEDS: build:device_cpu.so
==== out
same
same
same
same
same
same
