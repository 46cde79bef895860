# RUN: %fsdpc check x.bin
# An empty file is not a plan.
==== x.bin
==== err
error[E0510]: x.bin: the file has 0 bytes, too few for a plan

==== exit 3
