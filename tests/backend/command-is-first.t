# RUN: %fsdpc --quiet compile x.fsd
# Options follow the command.
==== err
error[E0502]: the first argument must be a command, not `--quiet`
  = help: `fsdpc --help` lists them

==== exit 1
