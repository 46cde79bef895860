# RUN: for b in 0 -5 0B block 1.5; do %fsdpc compile -n 2 -s shard.bucket=$b %root/tests/passes/model-t.fsd -o p 2>&1 | grep -E '^error|help:'; done; for b in unit 25MB 25M 7; do %fsdpc dump --stage=comm -n 2 -s shard.bucket=$b %root/tests/passes/model-t.fsd | grep -oE 'bucket = [0-9]*, bucket_bytes = [0-9]*'; done
# bucket is unit, or a number of elements or bytes above 0.
==== out
error[E0311]: shard.bucket must be at least 1, not 0
error[E0311]: shard.bucket must be at least 1, not -5
error[E0318]: bucket must be 1B to 1125899906842624B
error[E0313]: shard.bucket cannot be `block`
  = help: known names: unit
error[E0310]: shard.bucket must be an integer or a name or bytes, not a number
bucket = 0, bucket_bytes = 0
bucket = 0, bucket_bytes = 25000000
bucket = 25000000, bucket_bytes = 0
bucket = 7, bucket_bytes = 0
