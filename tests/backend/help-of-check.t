# RUN: %fsdpc check -h
# Only the options that it has.
==== out
usage: fsdpc check [-v] plan.bin

Prints nothing when all seven proofs succeed (-v: a line for each); otherwise the rule, the
instruction and the source line.

options:
      --error-format FORMAT  text (default) or json: one object a line
  -v, --verbose              one line a proof: what holds, and for how much
  -h, --help                 this text
