# RUN: %fsdpc opt --pass= %s
# graph-1: an operand must be the result of an earlier op of the same program.
==== graph.txt
graph train
program train
  #0 %0: f32[2] = relu(%1) !forward -
  #1 %1: f32[2] = relu(%0) !forward -
end
program eval
  #2 %2: f32[2] = relu(%1) !forward -
end
==== err
error[E0521]: graph-1: program train, #0 relu: operand %1 is read before it is defined
  = help: an operand is the result of an earlier op of the same program, and not scratch

error[E0521]: graph-1: program eval, #2 relu: operand %1 is read before it is defined
  = help: an operand is the result of an earlier op of the same program, and not scratch

==== exit 1
