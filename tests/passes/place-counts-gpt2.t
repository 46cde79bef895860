# RUN: count() { for phase in forward backward; do sed -n '/^program train/,/^end/p' %t/g | grep -c "$1(.*!$phase"; done; }; for s in rows=false rows=true gather_again=false; do %fsdpc dump --stage=place %root/models/gpt2.fsd -s 'shard.mesh=(dp = 2, tp = 2)' -s train.batch=8 -s shard.$s > %t/g; for op in all_reduce reduce_scatter_part all_gather_part part; do echo $s: $op $(count " $op"); done; done
# Whole rows: two sums over ranks in a block's forward, two in its backward. Rows shared out: two scatters and two
# gathers in each, and, as in Megatron, two gathers of forward's results for the gradients of weights; if backward
# keeps what forward gathered, neither these nor that of the head's input.
# The embedding is a sum over parts of the vocabulary, too, and the head and the loss gather: 76 gathers, 50 scatters.
==== out
rows=false: all_reduce 25 25
rows=false: reduce_scatter_part 0 0
rows=false: all_gather_part 1 0
rows=false: part 0 0
rows=true: all_reduce 0 0
rows=true: reduce_scatter_part 25 25
rows=true: all_gather_part 26 50
rows=true: part 1 1
gather_again=false: all_reduce 0 0
gather_again=false: reduce_scatter_part 25 25
gather_again=false: all_gather_part 26 25
gather_again=false: part 1 1
