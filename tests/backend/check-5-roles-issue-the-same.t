# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "a collective twice in one role" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# One role issues a collective more than the other: check-5.
==== out
error[E0510]: %t/plan.bin: check-5a: linear.fsd:N: unshard #N: has no counterpart in the program of another role

==== exit 3
