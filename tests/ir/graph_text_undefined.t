# RUN: %fsdpc opt --pass= %s
# Values and ops that an op names must be defined somewhere.
==== graph.txt
graph sched
program eval
  #0 wait(#7) %0: f32[2] = add(%1, %0) !forward -
end
==== err
error[E0520]: #7 is not defined
 --> graph.txt:3:11
  |
3 |   #0 wait(#7) %0: f32[2] = add(%1, %0) !forward -
  |           ^

error[E0520]: %1 is not defined
 --> graph.txt:3:32
  |
3 |   #0 wait(#7) %0: f32[2] = add(%1, %0) !forward -
  |                                ^

==== exit 1
