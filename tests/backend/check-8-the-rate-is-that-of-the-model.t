# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "train at another rate" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/line [0-9]+/line N/"; exit ${PIPESTATUS[0]}
# The settings have another learning rate than the model file: check-8.
==== out
error[E0510]: %t/plan.bin: check-8c: the plan as a whole: lr is 0.1253 in the plan's tables, 0.0006 in the model

==== exit 3
