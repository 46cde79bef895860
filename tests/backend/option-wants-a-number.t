# RUN: %fsdpc compile x.fsd -o x.bin -n two
# A number of ranks is a number.
==== err
error[E0503]: `--ranks` wants a number of ranks, 1 or more, not `two`

==== exit 1
