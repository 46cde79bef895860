# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "say that a gradient repeats forward" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A gradient is marked as an instruction of forward that is repeated: check-4.
==== out
error[E0510]: %t/plan.bin: check-4k: h.0.attn.c_attn gpt2.fsd:N: linear_grad_input #N: is marked as recomputed, but forward computes no such value

==== exit 3
