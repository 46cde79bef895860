# RUN: %fsdpc opt --pass= %s
# Mistakes in ops are all reported, each at its place.
==== graph.txt
graph model
program train
  #0 %0: f32[2] = relo(%1) !forward -
  #1 %1: f32[2] = relu(%0) {p = 1} !forward -
  #2 %2 = relu(%0) !forward -
  #3 %3: f32[2] = relu(%0) !forward "h
==== err
error[E0520]: unknown op `relo`
 --> graph.txt:3:19
  |
3 |   #0 %0: f32[2] = relo(%1) !forward -
  |                   ^

error[E0520]: `relu` has no attribute `p`
 --> graph.txt:4:29
  |
4 |   #1 %1: f32[2] = relu(%0) {p = 1} !forward -
  |                             ^

error[E0520]: expected `:`
 --> graph.txt:5:9
  |
5 |   #2 %2 = relu(%0) !forward -
  |         ^

error[E0520]: the text in quotes does not end in this line
 --> graph.txt:6:39
  |
6 |   #3 %3: f32[2] = relu(%0) !forward "h
  |                                       ^

==== exit 1
