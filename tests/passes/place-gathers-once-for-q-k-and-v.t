# RUN: count() { for phase in forward backward; do sed -n '/^program train/,/^end/p' %t/g | grep -c "$1(.*!$phase"; done; }; %fsdpc dump --stage=place %root/models/llama3.fsd --preset 8b -s 'shard.mesh=(tp = 2)' -s shard.recompute=none > %t/g; for op in all_reduce reduce_scatter_part all_gather_part; do echo $op $(count " $op"); done
# Where q, k and v are three products, and gate and up two, what they read is gathered once, and their gradients
# of it are summed once: in 32 blocks two gathers and two scatters each way, and two gathers again.
==== out
all_reduce 0 0
reduce_scatter_part 65 66
all_gather_part 66 129
