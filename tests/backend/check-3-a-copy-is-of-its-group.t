# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 by rows, 3 ranks, 2 micro-batches" "copy a parameter out of a group that does not have it" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A copy out of a unit's gather is of a parameter that the unit has: check-3.
==== out
error[E0510]: %t/plan.bin: check-3d: h.0.mlp.c_fc gpt2.fsd:N: copy_out #N: is not a copy of parameter h.1.mlp.c_fc.bias: value N holds no such parameter in chunks, or the result has another type

==== exit 3
