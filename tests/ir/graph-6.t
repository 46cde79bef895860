# RUN: %fsdpc opt --pass= %s
# graph-6: names in a table are different; so are the programs.
==== graph.txt
graph model
module 0 "" M
state 0 step "step" f64[16]
state 1 step "step" f64[16]
param 0 "w" module 0 f32[3] zeros alias "v" module 0
param 1 "v" module 0 f32[3] zeros
program eval
end
program eval
end
==== err
error[E0521]: graph-6: two parameters are called "v"
  = help: names in a table differ, and each kind of program occurs once

error[E0521]: graph-6: two states are called "step"
  = help: names in a table differ, and each kind of program occurs once

error[E0521]: graph-6: there are two programs eval
  = help: names in a table differ, and each kind of program occurs once

==== exit 1
