# RUN: %fsdpc compile x.fsd -o x.bin --ranks=0
# There is at least one rank.
==== err
error[E0503]: `-n` takes a number of ranks from 1 to 1048576, not `0`

==== exit 1
