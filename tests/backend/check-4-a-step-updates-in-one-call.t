# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers none, 4 micro-batches, sharded" "update in two calls" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The program with the update runs twice, another program once less: check-4.
==== out
error[E0510]: %t/plan.bin: check-4a: fc.0 six-layers.fsd:N: grad_norm #N: is in a program that a step calls 2 times

==== exit 3
