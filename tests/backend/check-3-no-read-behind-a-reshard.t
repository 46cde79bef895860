# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "reshard before a reader" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A parameter is read although its unit may be resharded: check-3.
==== out
error[E0510]: %t/plan.bin: check-3b: fc linear.fsd:N: linear #N: reads value N, which instruction N reshards, possibly before this read

==== exit 3
