# RUN: %fsdpc complie x.fsd
# A command that does not exist names its neighbour.
==== err
error[E0501]: there is no command `complie`
  = help: did you mean `compile`?

==== exit 1
