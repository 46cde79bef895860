# RUN: ! %fsdpc plot a.log
# RUN: ! %fsdpc plot a.log -o ./a.log
# RUN: %fsdpc plot missing.log -o a.svg
# A picture needs a file, other than the log, and logs that exist.
==== a.log
{"event":"step","step":0,"loss":1,"lr":1}
==== err
error[E0504]: `fsdpc plot` needs -o FILE for the picture
  = help: `-o -` writes the picture to standard output

error[E0503]: `-o ./a.log` would replace a.log, which was read
  = help: name another file after -o

error: cannot read missing.log: No such file or directory
==== exit 2
