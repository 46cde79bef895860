# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full, resharded in groups of 2 of 4 ranks" "retain over another axis" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |group |bytes? |to |says |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# What a rank retains of a unit is a part for the axes that the next gather spans, not for others of the same size.
==== out
error[E0510]: %t/plan.bin: check-3a: gpt2.fsd:N: unshard #N: gathers group N over axes other than those that it is split over

==== exit 3
