# RUN: took() { echo "$*:" $(%fsdpc dump --stage=sched "$@" %root/tests/passes/model-t.fsd 2>&- | %python %root/tests/passes/overlap.py --time --comm 2 | grep -v eval); }; for k in 0 1 2; do for i in 1 2 3 4; do test $i -le $k || took -n 2 -s shard.prefetch=$k -s shard.inflight=$i; done; done; for s in each last; do took --mesh rep=2,dp=2 -s train.accumulate=3 -s shard.all_reduce=$s; done; for h in false true; do took -n 2 -s train.accumulate=3 -s shard.hold=$h; done
# The edges of a plan, simulated with collectives that take twice as long as a unit's work: prefetching overlaps, all_reduce = last and hold save time, prefetch = 0 serialises whatever inflight is.
# NEEDS: sanitizer:none
==== out
-n 2 -s shard.prefetch=0 -s shard.inflight=1: train: 26.9
-n 2 -s shard.prefetch=0 -s shard.inflight=2: train: 26.9
-n 2 -s shard.prefetch=0 -s shard.inflight=3: train: 26.9
-n 2 -s shard.prefetch=0 -s shard.inflight=4: train: 26.9
-n 2 -s shard.prefetch=1 -s shard.inflight=2: train: 22.9
-n 2 -s shard.prefetch=1 -s shard.inflight=3: train: 22.9
-n 2 -s shard.prefetch=1 -s shard.inflight=4: train: 22.9
-n 2 -s shard.prefetch=2 -s shard.inflight=3: train: 22.9
-n 2 -s shard.prefetch=2 -s shard.inflight=4: train: 22.9
--mesh rep=2,dp=2 -s train.accumulate=3 -s shard.all_reduce=each: first: 28.7 micro: 32.3 last: 33.9
--mesh rep=2,dp=2 -s train.accumulate=3 -s shard.all_reduce=last: first: 20.7 micro: 24.3 last: 33.9
-n 2 -s train.accumulate=3 -s shard.hold=false: first: 20.7 micro: 24.7 last: 26.3
-n 2 -s train.accumulate=3 -s shard.hold=true: first: 20.3 micro: 19.3 last: 21.3
