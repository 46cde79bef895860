# RUN: %fsdpc compile x.fsd
# compile does not guess where the plan goes.
==== err
error[E0504]: `fsdpc compile` needs -o FILE for the plan
  = help: `-o -` writes the plan to standard output

==== exit 1
