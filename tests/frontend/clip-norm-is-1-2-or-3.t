# RUN: for p in 0 4 2.5 inf; do %fsdpc dump --stage=config %s -s train.clip_norm=$p 2>&1 | grep -E '^error|help:'; done
# The p of the norm of gradients is 1, 2 or 3; inf is what this version lacks.
==== m.fsd
module M { w : param[4] = zeros }
model = M
==== out
error[E0311]: train.clip_norm is at least 1, this is 0
error[E0318]: clip_norm is 1, 2 or 3
error[E0310]: train.clip_norm takes an integer or a name, this is a number
error[E0390]: train.clip_norm = inf is known but not in this version
  = help: train.clip_norm is 1, 2 or 3: the p of the norm that clip bounds and the log has as grad_norm
==== exit 2
