# RUN: cp %root/tests/passes/model-t.fsd .; %fsdpc dump --stage=config -s shard.strategy=none net.fsd 2>&1 >/dev/null | grep warning
# With strategy none all parameters are whole on every rank.
==== net.fsd
use "model-t.fsd"
shard { replicate_below = 9; "u1.weight" = replicate }
==== out
warning[W0302]: strategy = none: replicate_below has no effect
warning[W0302]: strategy = none: replicate has no effect
