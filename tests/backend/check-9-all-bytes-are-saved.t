# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "save fewer bytes" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/(#|value |instruction |bytes? |save |saves |and |to |says |is |at |\()[0-9]+/\1N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/"; exit ${PIPESTATUS[0]}
# A rank leaves out bytes of its shard: check-9c.
==== out
error[E0510]: %t/plan.bin: check-9c: the plan as a whole: save N says that a rank writes 6556 bytes of state param.h.0; the layout says N

==== exit 3
