# RUN: %fsdpc opt --pass= %s
# Text that is no graph at all is refused.
==== graph.txt
hello
==== err
error[E0520]: expected `graph`
 --> graph.txt:1:1
  |
1 | hello
  | ^

==== exit 1
