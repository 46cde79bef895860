# RUN: %fsdpc explain E054
# A code that does not exist names its neighbour.
==== err
error[E0508]: there is no diagnostic `E054`
  = help: did you mean `E0504`?

==== exit 1
