# RUN: %fsdpc help trian
# A section that does not exist is an error.
==== err
error[E0508]: there is no help about `trian`
  = help: did you mean `train`?

==== exit 1
