# RUN: %fsdpc check none.bin
# A plan that is not there is the environment's mistake.
==== err
error: cannot open none.bin: No such file or directory
==== exit 2
