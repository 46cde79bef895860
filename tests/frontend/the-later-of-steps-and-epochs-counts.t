# RUN: for s in batch=8 steps=7 epochs=3; do %fsdpc dump --stage=config %s -s train.epochs=2 -s train.$s | grep -E '^  (steps|epochs) '; done
# The one that does not count ends up as none.
==== m.fsd
train { steps = 10; batch = 4 }
==== out
  steps            = none                     # epochs is given later
  epochs           = 2                        # -s
  steps            = 7                        # -s
  epochs           = none                     # steps is given later
  steps            = none                     # epochs is given later
  epochs           = 3                        # -s
