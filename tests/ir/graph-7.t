# RUN: %fsdpc opt --pass= %s
# graph-7: a state is set once, to a value of its type.
==== graph.txt
graph train
state 0 metric "loss" i64[24]
program train
  #0 %0: f32[24] = fill {alpha = 0} !forward -
  #1 set_state(%0) {index = 0} !forward -
  #2 %2: i64[24] = state {index = 0} !forward -
  #3 set_state(%2) {index = 0} !forward -
end
==== err
error[E0521]: graph-7: program train, #1 set_state: state "loss" has type i64[24], but is set to a value of type f32[24]
  = help: a program sets a state at most once, to a value of the state's type

error[E0521]: graph-7: program train, #3 set_state: sets state "loss" again
  = help: a program sets a state at most once, to a value of the state's type

==== exit 1
