# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full, bf16, Adafactor, all shards cast by the update" "copy an old shard" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |group )[0-9]+/\1N/g; s/[a-z0-9._]+ gpt2[.]fsd:[0-9]+:[0-9]+/gpt2.fsd:N/; s/gpt2[.]fsd:[0-9]+:[0-9]+/gpt2.fsd:N/; s/state copy[a-z0-9._]*/state copy/"; exit ${PIPESTATUS[0]}
# A copy of a shard is taken before the update, when its memory is already that of the new one: check-2.
==== out
error[E0510]: %t/plan.bin: check-2a: gpt2.fsd:N: adafactor #N: value N overwrites value N, which instruction N may still read

==== exit 3
