# RUN: %fsdp-run -n 2
# Without a plan there is nothing to run, and the message says how to make one.
==== err
error: no plan given
help: fsdpc compile model.fsd -o plan.bin makes one; fsdp-run --help
==== exit 1
