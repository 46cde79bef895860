# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "save a state twice" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |save |saves |and |to |says |is |at |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A state is in the checkpoint twice: check-9a.
==== out
error[E0510]: %t/plan.bin: check-9a: the plan as a whole: saves N and N both write state param.h.0

==== exit 3
