# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "no wait for a save" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |save |saves |and |to |says |is |at |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# An update may overwrite what a checkpoint still reads: check-9b.
==== out
error[E0510]: %t/plan.bin: check-9b: gpt2.fsd:N: adam #N: value N overwrites state param, whose save (N) may still run

==== exit 3
