# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "no reshard" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A unit is gathered and never resharded: check-3.
==== out
error[E0510]: %t/plan.bin: check-3c: linear.fsd:N: unshard #N: value N is unsharded here and never resharded

==== exit 3
