# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "update with other constants in one role" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# Two roles update with different constants: check-4.
==== out
error[E0510]: %t/plan.bin: check-4p: h.0 gpt2.fsd:N: adam #N: its constants differ from those of instruction N

==== exit 3
