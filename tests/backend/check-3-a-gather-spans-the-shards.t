# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 on 2 replicas of 2 shards" "gather over the replicas" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A gather over the replicas is refused, also where there are as many of them as shards.
==== out
error[E0510]: %t/plan.bin: check-3a: h.1 gpt2.fsd:N: unshard #N: gathers group 1 over axes other than those that it is split over

==== exit 3
