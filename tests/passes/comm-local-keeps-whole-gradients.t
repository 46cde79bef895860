# RUN: %fsdpc dump --stage=comm -n 4 -s train.accumulate=2 -s shard.accumulate=sharded %root/tests/passes/model-t.fsd | grep '^state.*grad'
# RUN: %fsdpc dump --stage=comm -n 4 -s train.accumulate=2 -s shard.accumulate=local %root/tests/passes/model-t.fsd | grep '^state.*grad'
# With accumulate = local the state holds whole gradients, and a note says what that costs.
==== out
state 9 gradient "grad.u0" f32[6] group 0
state 10 gradient "grad.u1" f32[12] group 1
state 11 gradient "grad.u2" f32[20] group 2
state 12 gradient "grad" f32[9] group 3
state 9 gradient "grad.u0" f32[24] group 0 split () partial (dp)
state 10 gradient "grad.u1" f32[48] group 1 split () partial (dp)
state 11 gradient "grad.u2" f32[80] group 2 split () partial (dp)
state 12 gradient "grad" f32[36] group 3 split () partial (dp)
==== err
note[W0403]: accumulate = local keeps 752 bytes of unsharded gradients on every rank; accumulate = sharded needs 188 bytes

