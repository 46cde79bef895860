# RUN: %fsdpc check --quiet x.bin
# An option of another command is unknown here.
==== err
error[E0502]: `fsdpc check` has no option `--quiet`
  = help: fsdpc check --help lists them

==== exit 1
