# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "drop the residual of a norm's gradient" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The gradient of a norm does not add the residual's: check-4.
==== out
error[E0510]: %t/plan.bin: check-4j: wte gpt2.fsd:N: embedding_grad #N: what it reads as the gradient of value N lacks the term that comes from its reader, instruction N (layer_norm)

==== exit 3
