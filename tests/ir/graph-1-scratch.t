# RUN: %fsdpc opt --pass= %s
# graph-1: an op does not read another op's scratch.
==== graph.txt
graph train
program train
  #0 %0: f32[4, 3] = fill {alpha = 1} !forward -
  #1 %1: f32[5, 3] = fill {alpha = 1} !forward -
  #2 %2: i32[4] = iota !forward -
  #3 %3: i64[24], %4: f32[2, 5] = linear_cross_entropy(%0, %1, %2) {count = 2, ignore = -100} !forward -
  #4 %5: f32[2, 5] = relu(%4) !forward -
end
program eval
end
==== err
error[E0521]: graph-1: program train, #4 relu: operand %4 is scratch of the op that defines it
  = help: an operand is the result of an earlier op of the same program, and not scratch

==== exit 1
