# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers full" "hide a reader and drop its part" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A reader of a parameter claims to belong to backward, and contributes nothing: check-4.
==== out
error[E0510]: %t/plan.bin: check-4j: fc.0 six-layers.fsd:N: pack #N: the gradient of fc.0.weight lacks the term that comes from its reader, instruction N (linear)

==== exit 3
