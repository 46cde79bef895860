# RUN: %fsdpc compile -z x.fsd
# An unknown letter is an error.
==== err
error[E0502]: `fsdpc compile` has no option `-z`
  = help: fsdpc compile --help lists them

==== exit 1
