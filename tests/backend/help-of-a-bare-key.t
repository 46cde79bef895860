# RUN: %fsdpc help prefetch
# A key without its section is found.
==== err
error[E0508]: no section `prefetch`; did you mean `shard.prefetch`?
  = help: `fsdpc help` lists them

==== exit 1
