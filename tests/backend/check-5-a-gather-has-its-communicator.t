# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "linear full" "use the other communicator" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A collective on the communicator of the other kind: check-5.
==== out
error[E0510]: %t/plan.bin: check-5c: linear.fsd:N: unshard #N: uses the reduce communicator

==== exit 3
