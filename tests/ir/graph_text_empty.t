# RUN: %fsdpc opt --pass= %s
# Text that is not a graph is rejected.
==== graph.txt
hello
==== err
error[E0520]: expected `graph`
 --> graph.txt:1:1
  |
1 | hello
  | ^

==== exit 1
