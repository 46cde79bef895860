# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "make a slope zero" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Zeros stand for a gradient in backward: check-4.
==== out
error[E0510]: %t/plan.bin: check-4j: h.0.ln_1 gpt2.fsd:N: layer_norm_grad #N: what it reads as the gradient of value N lacks the term that comes from its reader, instruction N (linear)

==== exit 3
