# RUN: %fsdpc compile none.fsd -o none.bin
# A model file that cannot be read is the environment's mistake.
==== err
error[E0110]: cannot read none.fsd: No such file or directory

==== exit 2
