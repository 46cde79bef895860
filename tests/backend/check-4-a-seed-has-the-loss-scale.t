# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full, f16, reduced in f16" "seed backward without the loss scale" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Backward starts without the loss scale that step_scale takes out again: check-4.
==== out
error[E0510]: %t/plan.bin: check-4m: gpt2.fsd:N: cross_entropy_both #N: its seed has a loss scale that differs from the settings

==== exit 3
