# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 on 2 replicas of 2 shards" "reduce for another unit" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |group |unit |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/: h[.][0-9]+ /: /"; exit ${PIPESTATUS[0]}
# A reduction names a unit whose gradients it holds.
==== out
error[E0510]: %t/plan.bin: check-4c: gpt2.fsd:N: reduce_scatter #N: names unit N, but reduces group N and no group of that unit

==== exit 3
