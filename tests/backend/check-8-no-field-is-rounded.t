# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "mlp full" "round a field of the batch" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/line [0-9]+/line N/"; exit ${PIPESTATUS[0]}
# A field of the batch is read through a cast to another dtype and one back, forward and backward: check-8.
==== out
error[E0510]: %t/plan.bin: check-8a: fc1 mlp.fsd:N: linear #N: loss: computes linear(fc1.cast, fc1.weight, fc1.bias); the model says linear(x, fc1.weight, fc1.bias) in fc1, line N

==== exit 3
