# RUN: %fsdpc
# Without a command there is nothing to do.
==== err
error[E0501]: no command given
  = help: fsdpc --help lists them

==== exit 1
