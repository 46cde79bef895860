# RUN: for s in full grads; do %fsdpc dump --stage=comm -n 2 -s train.accumulate=3 -s shard.accumulate=local -s shard.strategy=$s %root/tests/passes/shared-and-frozen.fsd 2>&1 | awk '/^note.*accum/ {print} /^state.* "g/ {print "state", $4} /^program/ {p = $2} /^  .* (= state|= unshard|= reshard|free)[ (]/ {k = $0; sub(/^[^=]* = /, "", k); sub(/[ (].*/, "", k); n[p " " k]++} END {for (i in n) print i, n[i]}' | sort; echo; done
# Frozen units have no gradient to keep and cost none; shards are read where they are gathered or updated; what the last call holds, it ends.
==== out
eval reshard 5
eval state 6
eval unshard 5
first reshard 9
first state 6
first unshard 9
last reshard 9
last state 10
last unshard 9
micro reshard 9
micro state 10
micro unshard 9
note[W0403]: accumulate = local keeps 416 bytes of unsharded gradients on every rank; accumulate = sharded needs 208 bytes
state "grad"
state "grad.a"
state "grad.b"

eval reshard 5
eval state 6
eval unshard 5
first state 6
first unshard 4
last reshard 4
last state 13
micro state 10
note[W0403]: accumulate = local keeps 416 bytes of unsharded gradients on every rank; accumulate = sharded needs 208 bytes
state "gathered"
state "gathered.a"
state "gathered.b"
state "gathered.f"
state "grad"
state "grad.a"
state "grad.b"

