# RUN: %fsdp-run m.fsd
# A model given as the plan: the message says how to compile it.
==== m.fsd
model = Net
==== err
error: m.fsd is a model, not a plan: compile it first
help: fsdpc compile m.fsd -o m.bin && fsdp-run m.bin
==== exit 1
