# RUN: %fsdpc check x.bin
# Other files are not plans.
==== x.bin
this is a text that goes on for some time, much longer than any header of a plan is
==== err
error[E0510]: x.bin: this is not a plan: it does not start with FSDPLAN1

==== exit 3
