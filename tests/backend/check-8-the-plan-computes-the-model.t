# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "compute another model" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/line [0-9]+/line N/"; exit ${PIPESTATUS[0]}
# Forward, backward and evaluation agree, but they are those of another model: check-8.
==== out
error[E0510]: %t/plan.bin: check-8a: h.1.attn gpt2.fsd:N: attention_packed #N: loss: computes attention_packed(h.1.attn.reshape) {causal = false, alpha = 0.35355339059327373}; the model says attention(h.1.attn.split, h.1.attn.split, h.1.attn.split) {causal = true, alpha = 0.35355339059327373} in h.1.attn, line N

==== exit 3
