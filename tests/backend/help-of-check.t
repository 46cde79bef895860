# RUN: %fsdpc check -h
# Only the options that it has.
==== out
usage: fsdpc check plan.bin

Prints nothing when all seven proofs succeed; otherwise the rule, the instruction and the
source line.

options:
      --error-format FORMAT  text (default) or json: one object a line
  -h, --help                 this text
