# RUN: %fsdpc opt --pass= %s
# graph-3: where the type of a result is the maker's to state, the message says what it must be.
==== in.graph
graph train
module 0 "" M
program train
  #0 %0: f32[8, 8:9] = fill {alpha = 1} !forward -
  #1 %1: f32[4] = iota !forward -
end
==== err
error[E0521]: graph-3: program train, #0 fill: y must be dense, not f32[8, 8:9]
  = help: counts and types of operands and results follow the op's signature

error[E0521]: graph-3: program train, #1 iota: y must be i32, not f32[4]
  = help: counts and types of operands and results follow the op's signature

==== exit 1
