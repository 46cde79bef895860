# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers 1 rank, 3 micro-batches" "call a program once more or less" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A step with another number of calls than micro-batches: check-4.
==== out
error[E0510]: %t/plan.bin: check-4a: the plan as a whole: a step makes 4 calls for 3 micro-batches

==== exit 3
