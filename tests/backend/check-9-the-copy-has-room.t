# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 grads, checkpoints through a copy" "two saves in one place of the copy" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |save |saves |and |to |says |is |at |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Two states have one place in the copy of the state: check-9d.
==== out
error[E0510]: %t/plan.bin: check-9d: the plan as a whole: save N of state m.h.1 starts at byte N of the copy, but the previous one ends at N

==== exit 3
