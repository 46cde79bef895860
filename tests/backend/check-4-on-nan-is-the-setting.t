# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "do something else with what is not finite" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# The plan's settings stop at a step that is not finite, but its step_scale continues: check-4.
==== out
error[E0510]: %t/plan.bin: check-4m: gpt2.fsd:N: step_scale #N: its attribute `on_nan` differs from the settings

==== exit 3
