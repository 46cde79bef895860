# RUN: %fsdpc check -h
# Only the options that it has.
==== out
usage: fsdpc check [-v] plan.bin | CK

Prints nothing when all nine proofs of a plan succeed (-v: a line for each); otherwise the
rule, the instruction and the source line.

CK is a folder of checkpoints, whose newest is meant, or one of them. All its files are read
and compared with their hashes and with the manifest (-v: what is in it). What is wrong is
said with file and tensor, and which one before it is whole.

options:
      --error-format FORMAT  text (default) or json: one object a line
  -v, --verbose              what holds, and for how much
  -h, --help                 this text
