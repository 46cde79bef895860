# RUN: %fsdpc check a.bin b.bin
# A file too many is not ignored.
==== err
error[E0504]: `b.bin` is one argument too many for `fsdpc check`
  = help: usage: fsdpc check [-v] plan.bin | CK

==== exit 1
