# RUN: %fsdpc compile x.fsd -o x.bin -n two
# A number of ranks is a number.
==== err
error[E0503]: `-n` takes a number of ranks from 1 to 1048576, not `two`

==== exit 1
