# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "reduce over another axis" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A metric is summed over an axis of one rank only: check-4.
==== out
error[E0510]: %t/plan.bin: check-4c: all_reduce #N: sums over axes 0x2; contributions differ over 0x1

==== exit 3
