# RUN: %fsdpc help -s
# The page of an option.
==== out
--set (option of fsdpc compile, dump, fit, convert)

    -s, --set PATH=EXPR

  a config name (L=4), key (train.batch=8) or path (shard."h.*"=unit); repeatable

  example
    fsdpc compile -s L=4 -s train.batch=64 -s 'shard."h.0"=reshard(false)' model.fsd -o plan.bin
