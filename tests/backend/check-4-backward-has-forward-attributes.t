# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "another attribute than forward" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# An op of backward has another attribute than its forward op: check-4.
==== out
error[E0510]: %t/plan.bin: check-4n: h.0.attn gpt2.fsd:N: attention_packed_grad #N: has causal = false, where the gradient of instruction N (attention_packed) needs causal = true

==== exit 3
