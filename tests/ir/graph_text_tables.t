# RUN: %fsdpc opt --pass= %s
# Mistakes in the tables of a graph are all reported, each at its place.
==== graph.txt
graph model
mesh dp = 2, tp
policy strategy = most, inflight = 2
param 0 "w" module 0 f32[3, 0] zeros
state 1 step "step" f64[16]
==== err
error[E0520]: expected `=`
 --> graph.txt:2:16
  |
2 | mesh dp = 2, tp
  |                ^

error[E0520]: `most` is not a value of `strategy`
 --> graph.txt:3:19
  |
3 | policy strategy = most, inflight = 2
  |                   ^

error[E0520]: no value can have the type f32[3, 0]
 --> graph.txt:4:22
  |
4 | param 0 "w" module 0 f32[3, 0] zeros
  |                      ^

error[E0520]: this is row 0, not 1
 --> graph.txt:5:7
  |
5 | state 1 step "step" f64[16]
  |       ^

==== exit 1
