# RUN: %fsdpc compile x.fsd -o x.bin --ranks=0
# There is at least one rank.
==== err
error[E0503]: `--ranks` wants a number of ranks, 1 or more, not `0`

==== exit 1
