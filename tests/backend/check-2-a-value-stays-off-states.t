# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers full" "write over a state" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A value over the memory of a state: check-2.
==== out
error[E0510]: %t/plan.bin: check-2b: six-layers.fsd:N: cross_entropy #N: value N lies over state step, which the host writes

==== exit 3
