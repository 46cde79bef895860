# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "read before the write" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# An operand that is listed behind its reader: check-1.
==== out
error[E0510]: %t/plan.bin: check-1a: set_state #N: operand 0 (value N) is the result of instruction N, which does not precede this one in its program

==== exit 3
