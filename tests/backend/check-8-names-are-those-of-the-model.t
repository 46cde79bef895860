# NEEDS: build:tests/mutate
# RUN: %build/tests/mutate "gpt2 full" "exchange the names of two parameters" %t/plan.bin 2>&-
# RUN: %fsdpc check %t/plan.bin 2>&1 | sed -E "s/#[0-9]+/#N/g; s/[.]fsd:[0-9]+:[0-9]+/.fsd:N/; s/line [0-9]+/line N/"; exit ${PIPESTATUS[0]}
# Two parameters would be loaded and saved under each other's name: check-8.
==== out
error[E0510]: %t/plan.bin: check-8c: the plan as a whole: h.0.attn.c_proj.bias differs between the plan's tables and the model

==== exit 3
