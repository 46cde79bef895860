# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 on 2 replicas of 2 shards" "no all-reduce of a shard" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A shard that is not summed over the replicas is refused.
==== out
error[E0510]: %t/plan.bin: check-4c: gpt2.fsd:N: grad_norm #N: the gradient of group 2 is not summed over ranks

==== exit 3
