# RUN: %fsdpc opt --pass= %s
# graph-11: a range has an upper end, too; beta1 = 1 is outside of it.
==== graph.txt
graph train
mesh dp = 2
policy strategy = full, unit = root, prefetch_backward = 1001, align = 8192
policy micro_batches = 2, beta1 = 1
==== err
error[E0521]: graph-11: prefetch_backward = 1001, not in 0 to 1000
  = help: policies are in range, and axes of the mesh have different names

error[E0521]: graph-11: align = 8192, not in 0 to 4096
  = help: policies are in range, and axes of the mesh have different names

error[E0521]: graph-11: beta1 = 1, not in 0 to 0.9999999999999999
  = help: policies are in range, and axes of the mesh have different names

==== exit 1
