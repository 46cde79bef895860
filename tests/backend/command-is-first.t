# RUN: %fsdpc --quiet compile x.fsd
# Options follow the command.
==== err
error[E0502]: the first argument must be a command, not `--quiet`
  = help: commands: compile, dump, opt, check, explain, help

==== exit 1
