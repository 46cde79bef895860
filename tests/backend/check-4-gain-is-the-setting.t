# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full, gathered in bf16, gradients added" "multiply the gradient by another number" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The plan's settings have one scale of gradients, its step_scale another: check-4.
==== out
error[E0510]: %t/plan.bin: check-4m: gpt2.fsd:N: step_scale #N: its attribute `gain` differs from the settings

==== exit 3
