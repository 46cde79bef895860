# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "work in place on a smaller operand" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A result lies over an operand that ends, but is smaller: check-2.
==== out
error[E0510]: %t/plan.bin: check-2a: gpt2.fsd:N: add #N: result value N lies over operand value N, and the op cannot work in place there

==== exit 3
