# RUN: %fsdpc opt --pass= %s
# graph-5: rows that tables name must exist, and parameters are floating point.
==== graph.txt
graph model
module 0 "" M
module 1 "h" M parent 1
param 0 "w" module 2 i32[3] zeros
state 0 moment1 "w.m" f32[3] group 1
==== err
error[E0521]: graph-5: module 1: parent 1 is not before it
  = help: rows that a table names exist, and types in tables are valid

error[E0521]: graph-5: param 0: module 2 does not exist
  = help: rows that a table names exist, and types in tables are valid

error[E0521]: graph-5: param 0: type i32[3]
  = help: rows that a table names exist, and types in tables are valid

==== exit 1
