# RUN: %fsdp-run none.bin
# A plan that is not there is the environment's fault.
==== err
error: cannot open none.bin: No such file or directory
help: fsdpc compile model.fsd -o plan.bin makes a plan
==== exit 2
