# RUN: %fsdpc opt --pass= %s
# graph-11: policies are in the range of their row, and the mesh names an axis once.
==== graph.txt
graph train
mesh dp = 2, dp = 3
policy strategy = full, unit = root, prefetch_forward = -9
policy micro_batches = 0
==== err
error[E0521]: graph-11: prefetch_forward = -9, not in 0 to 1000
  = help: policies are in range, and axes of the mesh have different names

error[E0521]: graph-11: micro_batches = 0, not in 1 to 1048576
  = help: policies are in range, and axes of the mesh have different names

error[E0521]: graph-11: the mesh has two axes `dp`
  = help: policies are in range, and axes of the mesh have different names

==== exit 1
