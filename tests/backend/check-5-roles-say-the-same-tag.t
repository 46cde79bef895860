# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "another tag in one role" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A role gives a collective another tag: check-5.
==== out
error[E0510]: %t/plan.bin: check-5a: all_reduce #N: meets instruction N of another role, which is a different collective

==== exit 3
