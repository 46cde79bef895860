# RUN: %fsdpc dump --stage=place %root/models/gpt2.fsd -s 'shard.mesh=(dp = 2, tp = 2)' -s train.batch=8 > %t/g; for phase in forward backward; do sed -n '/^program train/,/^end/p' %t/g | grep -c "all_reduce.*!$phase"; done; grep -c 'part(' %t/g
# Two sums over ranks in a block's forward, two in its backward, as Megatron has them; no part is gathered.
==== out
24
24
0
==== exit 1
