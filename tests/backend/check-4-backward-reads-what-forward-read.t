# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "exchange two operands in backward" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A norm of backward takes the mean for the deviation: check-4.
==== out
error[E0510]: %t/plan.bin: check-4l: h.0.ln_1 gpt2.fsd:N: layer_norm_grad #N: reads value N as operand 2, where instruction N (layer_norm) has value N

==== exit 3
