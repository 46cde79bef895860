# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gradients full" "drop a branch of backward" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A value has two readers, and one branch of its gradient is counted twice, the other one never: check-4.
==== out
error[E0510]: %t/plan.bin: check-4l: h.0.n1 gradients.fsd:N: layer_norm_grad_input #N: reads value N as operand 1, where instruction N (layer_norm) has value N

==== exit 3
