# RUN: for topic in trian Conv2d zzzzzz; do %fsdpc help $topic; done
# A topic that does not exist is an error; a module of PyTorch that is missing here has a remedy of its own.
==== err
error[E0508]: there is no help about `trian`
  = help: did you mean `train`?

error[E0508]: there is no help about `Conv2d`
  = help: convolutions are not supported; split patches that do not overlap into axes with `as`, and apply a Linear

error[E0508]: there is no help about `zzzzzz`
  = help: `fsdpc help` lists all topics

==== exit 1
