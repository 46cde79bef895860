# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "update with other constants" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# An update has another beta than the settings say: check-4.
==== out
error[E0510]: %t/plan.bin: check-4m: gpt2.fsd:N: adam #N: its attribute `beta2` differs from the settings

==== exit 3
