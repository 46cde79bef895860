# RUN: %fsdpc opt --pass= %s
# Numbers in ops are checked when they are read.
==== graph.txt
graph model
program train
  #3 %3: f32[2] = relu(%0) !forward -
  #3 %4: f32[2] = relu(%0) !forward -
  #5 %5: f32[99999999999999999999] = relu(%0) !forward -
  #6 %6: f32[281474976710655, 2] = relu(%0) !forward -
  #7 %7777777: f32[2] = relu(%0) !forward -
==== err
error[E0520]: #3 is defined a second time
 --> graph.txt:4:4
  |
4 |   #3 %4: f32[2] = relu(%0) !forward -
  |    ^

error[E0520]: the number is larger than 9223372036854775807
 --> graph.txt:5:14
  |
5 |   #5 %5: f32[99999999999999999999] = relu(%0) !forward -
  |              ^

error[E0520]: no value can have the type f32[281474976710655, 2]
 --> graph.txt:6:10
  |
6 |   #6 %6: f32[281474976710655, 2] = relu(%0) !forward -
  |          ^

error[E0520]: the number 7777777 is too large
 --> graph.txt:7:7
  |
7 |   #7 %7777777: f32[2] = relu(%0) !forward -
  |       ^

==== exit 1
