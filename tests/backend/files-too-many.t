# RUN: %fsdpc check a.bin b.bin
# A file too many is not ignored.
==== err
error[E0504]: unexpected argument `b.bin` for `fsdpc check`
  = help: usage: fsdpc check [-v] plan.bin | CK

==== exit 1
