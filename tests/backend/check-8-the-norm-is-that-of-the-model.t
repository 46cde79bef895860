# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "take another norm of the gradient" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/line [0-9]+/line N/"; exit ${PIPESTATUS[0]}
# A gradient is taken in another norm than the model file says: check-8.
==== out
error[E0510]: %t/plan.bin: check-8d: h.0 gpt2.fsd:N: grad_norm #N: its attribute `clip_norm` differs from the optimizer of the model

==== exit 3
