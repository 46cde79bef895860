# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "exchange the loss with that of the evaluation" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The step leaves its loss where that of the evaluation is read: check-8.
==== out
error[E0510]: %t/plan.bin: check-8b: gpt2.fsd:N: cross_entropy #N: loss belongs to a step, but an evaluation computes it

==== exit 3
