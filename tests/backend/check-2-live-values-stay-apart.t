# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "two live values in one place" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A value in the place of one that is still read: check-2.
==== out
error[E0510]: %t/plan.bin: check-2a: linear.fsd:N: cross_entropy_both #N: value N overwrites value N, which instruction N may still read

==== exit 3
