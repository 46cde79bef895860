# NEEDS: build:tests/mutate
# RUN: for fault in "gather in place into another place" "gather from a slot elsewhere" "gather from the same slot on every rank"; do %build/tests/mutate "gpt2 full, bf16" "$fault" %t/plan.bin 2>&-; %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction )[0-9]+/\1N/g; s/[a-z0-9.]+ gpt2[.]fsd:[0-9]+:[0-9]+/gpt2.fsd:N/"; done; true
# What a gather finds in a slot is in this rank's slot of its result, on every rank: check-2.
==== out
error[E0510]: %t/plan.bin: check-2g: gpt2.fsd:N: unshard #N: operand 0 (value N) is in a slot, and result 0 is not its slots

error[E0510]: %t/plan.bin: check-2g: gpt2.fsd:N: unshard #N: operand 0 (value N) is in a slot, and result 0 is not its slots

error[E0510]: %t/plan.bin: check-2a: gpt2.fsd:N: unshard #N: result value N lies over operand value N, and the op cannot work in place there

