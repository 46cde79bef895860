# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "drop an edge that a read needs" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Without the edge an operand may be read before it is written: check-1.
==== out
error[E0510]: %t/plan.bin: check-1b: set_state #N: operand 0 (value N) is written by instruction N on stream reduce, which may not have finished: no edge or stream order puts it before this one

==== exit 3
