# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gradients full" "make a gradient a constant" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A parameter that no product reads, and its gradient is a constant: check-4.
==== out
error[E0510]: %t/plan.bin: check-4j: gradients.fsd:N: pack #N: the gradient of scale lacks the term that comes from its reader, instruction N (mul)

==== exit 3
