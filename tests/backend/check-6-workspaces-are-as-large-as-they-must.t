# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "a wrong size of workspace" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A workspace that is larger than any instruction needs: check-6.
==== out
error[E0510]: %t/plan.bin: check-6c: the plan as a whole: on device kind 0 workspaces reach byte N, the plan says N

==== exit 3
