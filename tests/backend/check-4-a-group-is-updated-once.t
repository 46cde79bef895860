# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "update never" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A group without update: check-4.
==== out
error[E0510]: %t/plan.bin: check-4d: the plan as a whole: group 0 is updated 0 times per step

==== exit 3
