# RUN: c() { %fsdpc compile -n 2 "$@" %root/tests/passes/model-t.fsd -o p 2>&1 | grep -E '^(error|warning)|help:'; }; c -s shard.bucket_size=5; c -s shard.strategy=none -s shard.reshard=true; c -s shard.strategy=none -s shard.inflight=3; %fsdpc dump -n 2 -s train.precision=bf16 %root/tests/passes/model-t.fsd | grep reduced.in
# A key that is unknown or has no effect is reported; the plan prints the dtype of reductions, by default the master's.
==== out
error[E0301]: section shard has no key `bucket_size`
  = help: did you mean `bucket`?
warning[W0302]: strategy = none: reshard has no effect
warning[W0302]: strategy = none: inflight has no effect
  parameters  188, kept in f32, read in bf16, gradients reduced in f32
