# RUN: %fsdpc dump --stage=sched --mesh rep=2,dp=2 %root/tests/passes/model-t.fsd | %python %root/tests/passes/order.py | grep train
# RUN: %fsdpc dump --stage=sched --mesh rep=2,dp=2 %root/tests/passes/model-t.fsd | grep -oE '= (unshard|reduce_scatter|all_reduce)|axes = [^)]*\)|tag = [a-z]*' | paste - - - | sort | uniq -c
# The all-reduce of a shard follows its reduce-scatter at once, over the axes that the shards are not split over; loss and norm are summed over all ranks.
==== out
train: A:r A:u0 F:r A:u1 F:u0 A:u2 F:u1 F:u2 F:r | A:u2 B:r A:u1 B:u2 R:u2 S:u2 A:u0 B:u1 R:u1 S:u1 B:u0 R:u0 S:u0 B:r R:r S:r U M
      4 = all_reduce	axes = (rep)	tag = gradient
      2 = all_reduce	axes = (rep, dp)	tag = metric
      4 = reduce_scatter	axes = (dp)	tag = gradient
     11 = unshard	axes = (dp)	tag = parameter
