# RUN: %fsdpc compile x.fsd
# compile does not guess where the plan goes.
==== err
error[E0504]: `fsdpc compile` wants -o FILE for the plan
  = help: `-o -` writes it to standard output

==== exit 1
