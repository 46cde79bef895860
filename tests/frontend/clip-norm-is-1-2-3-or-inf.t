# RUN: for p in 0 4 2.5 max inf; do %fsdpc dump --stage=config %s -s train.clip_norm=$p 2>&1 | grep -E '^error|help:|clip_norm'; done
# The p of the norm of gradients is 1, 2, 3 or inf.
==== m.fsd
module M { w : param[4] = zeros }
model = M
==== out
error[E0311]: train.clip_norm must be at least 1, not 0
1 | train.clip_norm=0
error[E0318]: clip_norm must be 1, 2, 3 or inf
1 | train.clip_norm=4
error[E0310]: train.clip_norm must be an integer or a name, not a number
1 | train.clip_norm=2.5
error[E0313]: train.clip_norm cannot be `max`
1 | train.clip_norm=max
  = help: known names: inf
  clip_norm        = inf                      # -s
