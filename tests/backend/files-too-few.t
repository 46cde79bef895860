# RUN: %fsdpc check
# A command says which file it misses.
==== err
error[E0504]: `fsdpc check` needs a file
  = help: usage: fsdpc check [-v] plan.bin | CK

==== exit 1
