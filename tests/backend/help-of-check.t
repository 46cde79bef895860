# RUN: %fsdpc check -h
# Only the options that it has.
==== out
usage: fsdpc check [-v] plan.bin | CK

Prints nothing when all ten proofs of a plan succeed (-v: a line for each); otherwise the
rule, the instruction and the source line.

CK is one checkpoint, or a folder of checkpoints, which stands for the newest. All its files are
read and compared with their hashes and with the manifest (-v: what is in it). A fault names
the file, the tensor and the newest intact checkpoint before it.

options:
      --error-format FORMAT  text (default) or json: one object a line
  -v, --verbose              print what was proved, and for how many objects
  -h, --help                 this text
