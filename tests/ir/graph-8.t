# RUN: %fsdpc opt --pass= %s
# graph-8: the role of a state gives its type.
==== graph.txt
graph model
state 0 step "step" f64[8]
state 1 staging "staging" u8[64]
state 2 scale "scale" f64[8]
state 3 metric "loss" f64[1]
state 4 param "w" f32[3]
==== err
error[E0521]: graph-8: state "step" of role step is f64[8], or has the wrong owner
  = help: a state has the type, the owner and the axes of its role

error[E0521]: graph-8: state "staging" of role staging is u8[64], or has the wrong owner
  = help: a state has the type, the owner and the axes of its role

error[E0521]: graph-8: state "loss" of role metric is f64[1], or has the wrong owner
  = help: a state has the type, the owner and the axes of its role

==== exit 1
