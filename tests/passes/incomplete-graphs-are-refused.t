# RUN: for p in fuse_packed_attention grad wrap optimizer; do echo $p >&2; case $p in fuse_*|grad) l=model;; optimizer) l=shard;; *) l=train;; esac; { echo graph $l; echo program train; echo end; } | %fsdpc opt --pass=$p > out || true; done
# RUN: for p in fuse_packed_attention,grad optimizer; do case $p in fuse*) l=model;; *) l=shard;; esac; { echo graph $l; echo program eval; echo end; } | %fsdpc opt --pass=$p || true; done
# RUN: %fsdpc dump --stage=optimizer -n 1 %root/tests/passes/model-t.fsd | %fsdpc opt --pass=optimizer || true
# RUN: %fsdpc dump --stage=train -n 2 %root/tests/passes/model-t.fsd | %fsdpc opt --pass=wrap,shard,optimizer | sed "/set_state.*index = 2/d" | %fsdpc opt --pass=comm
# A text that the verifier accepts may still lack what a pass starts from: an error, no abort.
==== err
fuse_packed_attention
grad
error[E0421]: nothing to train
  = help: the model has no parameters

wrap
error[E0407]: wrap needs a graph with its modules

optimizer
error[E0407]: optimizer needs a state "step" and a program train that sets its loss

error[E0407]: grad needs a program train

error[E0407]: optimizer needs a state "step" and a program train that sets its loss

error[E0407]: the graph has its optimizer already

error[E0521]: train-7: program train, #41 step_scale: no metric keeps its loss before it
  --> model-t.fsd:14:9
   |
   = help: the loss that scales the update is kept in a metric before it, until pass comm

==== exit 1
