# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 states, 3 micro-batches, adafactor" "exchange two sums in one role" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A role sums what Adafactor needs of two groups the other way round: check-5.
==== out
error[E0510]: %t/plan.bin: check-5a: h.0 gpt2.fsd:N: all_reduce #N: meets instruction N of another role, which is a different collective

==== exit 3
