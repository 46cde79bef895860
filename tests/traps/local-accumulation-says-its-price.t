# RUN: %fsdpc compile -n 8 -s 'data.train=text("x")' -s data.val=none -s train.precision=f32 -s train.batch=64 -s train.accumulate=2 -s shard.accumulate=local %root/models/gpt2.fsd -o p.bin 2>&1 | grep ^note
# no_sync keeps whole gradients on every rank: accumulate = local says how many bytes, and sharded is the default.
==== out
note[W0403]: accumulate = local keeps 475 MiB of unsharded gradients on every rank; accumulate = sharded needs 59 MiB
