# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gradients grads, 5 micro-batches added unsharded" "reshard in two calls" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The program that reshards kept parameters runs twice: check-3.
==== out
error[E0510]: %t/plan.bin: check-3f: gradients.fsd:N: state #N: reads state gathered, which no instruction has gathered in this step

==== exit 3
