# RUN: %fsdpc opt x.txt
# opt wants --pass, empty or not.
==== err
error[E0504]: `fsdpc opt` wants --pass=NAME[,NAME]
  = help: `--pass=` alone reads and prints the graph

==== exit 1
