# RUN: for o in none '(states = cpu, params = cpu, grads = cpu)'; do %fsdpc compile -q -n 2 -s 'data.train=synthetic_tokens(vocab = 2)' -s train.accumulate=3 -s 'train.optimizer=adamw(lr = 0.1)' -s "shard.offload=$o" %root/tests/passes/model-t.fsd -o p && %fsdp-run --quiet --save "w$((k++))" p || exit; done; cmp w0 w1 && echo the same weights
# FSDP 1 with CPU offload adds up micro-batches wrongly outside no_sync: here the sum is fetched, added to and evicted, and has the bits of one that stays on the device.
# NEEDS: build:device_cpu.so
==== out
the same weights
