# RUN: %fsdpc check x.bin
# An empty file is no plan.
==== x.bin
==== err
error[E0510]: x.bin: 0 bytes are too few for a plan

==== exit 3
