# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "evaluate with another parameter" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The evaluation reads another parameter of the same shape than the step does: check-4.
==== out
error[E0510]: %t/plan.bin: check-4o: gpt2.fsd:N: cross_entropy #N: computes a loss that differs from the one that instruction N trains

==== exit 3
