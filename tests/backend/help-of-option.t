# RUN: %fsdpc help -s
# The page of an option.
==== out
--set (option of fsdpc compile, dump, convert)

    -s, --set PATH=EXPR

  a config name (L=4) or key (train.batch=8); repeatable

  example
    fsdpc compile -s L=4 -s train.batch=64 -s 'train.optimizer=sgd(lr = 0.1)' model.fsd -o plan.bin
