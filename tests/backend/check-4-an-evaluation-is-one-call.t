# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "evaluate twice" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin
# The program of the evaluation runs twice for one batch: check-4.
==== err
error[E0510]: %t/plan.bin: check-4a: the plan as a whole: an evaluation makes 2 calls for one batch

==== exit 3
