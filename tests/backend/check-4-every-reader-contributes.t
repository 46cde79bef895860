# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers full" "leave out a part of a gradient" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A layer that is used twice, and one of its gradients is dropped: check-4.
==== out
error[E0510]: %t/plan.bin: check-4j: fc.0 six-layers.fsd:N: pack #N: the gradient of fc.0.weight lacks the term that comes from its reader, instruction N (linear)

==== exit 3
