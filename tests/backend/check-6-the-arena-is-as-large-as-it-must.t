# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "an arena that is too large" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The plan says another size of the arena than its values need: check-6.
==== out
error[E0510]: %t/plan.bin: check-6a: the plan as a whole: the arena reaches byte N, the plan says N

==== exit 3
