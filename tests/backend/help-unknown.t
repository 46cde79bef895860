# RUN: %fsdpc help trian
# A section that does not exist is an error.
==== err
error[E0508]: no section or key `trian`; did you mean `train`?
  = help: `fsdpc help` lists them

==== exit 1
