# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers full" "a cycle over two communicators" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Two roles order a gather and a reduction against each other: check-7.
==== out
error[E0510]: %t/plan.bin: check-7b: fc.0 six-layers.fsd:N: unshard #N: waits for itself: streams, edges and matched collectives form a cycle through it (N instructions never start)

==== exit 3
