# RUN: %fsdpc opt x.txt
# opt wants --pass, empty or not.
==== err
error[E0504]: `fsdpc opt` needs --pass=NAME[,NAME]
  = help: `--pass=` without names reads and prints the graph

==== exit 1
