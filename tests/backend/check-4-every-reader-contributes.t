# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "six layers full" "leave out a part of a gradient" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g"; exit ${PIPESTATUS[0]}
# A layer that is used twice, and one of its gradients is dropped: check-4.
==== out
error[E0510]: %t/plan.bin: check-4k: fc.3 six-layers.fsd:9:32: linear_grad_weight_bias #N: nothing reads result 0 (value N)

==== exit 3
