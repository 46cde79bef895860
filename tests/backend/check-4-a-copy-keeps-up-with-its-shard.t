# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full, bf16, Adafactor, all shards cast by the update" "keep an old copy of a shard" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |group )[0-9]+/\1N/g; s/[a-z0-9._]+ gpt2[.]fsd:[0-9]+:[0-9]+/gpt2.fsd:N/; s/gpt2[.]fsd:[0-9]+:[0-9]+/gpt2.fsd:N/; s/state copy[a-z0-9._]*/state copy/"; exit ${PIPESTATUS[0]}
# The update does not refresh the copy that is kept of a shard: check-4.
==== out
error[E0510]: %t/plan.bin: check-4q: gpt2.fsd:N: adafactor #N: state copy keeps the value of group N from before the update

==== exit 3
