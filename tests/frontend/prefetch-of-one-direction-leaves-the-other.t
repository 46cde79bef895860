# RUN: for p in 1 2 '(forward = 2)' '(backward = 2)' '(forward = 0)' '(forward = 2, backward = 0)' '()' '(sideways = 1)'; do %fsdpc dump --stage=model -s shard.inflight=3 -s "shard.prefetch=$p" -n 2 %root/tests/passes/model-t.fsd 2>&1 | grep -oE '^error.*|prefetch[a-z_]* = [0-9]*|prefetch [0-9 ]*' | tr '\n' ';'; echo; done
# Where prefetch says one direction, the other has its default of 1, as in a file of Accelerate.
==== out
prefetch_forward = 1;prefetch_backward = 1;prefetch_post = ;
prefetch_forward = 2;prefetch_backward = 2;prefetch_post = ;
prefetch_forward = 2;prefetch_backward = 1;prefetch_post = ;
prefetch_forward = 1;prefetch_backward = 2;prefetch_post = ;
prefetch_forward = 0;prefetch_backward = 1;prefetch_post = ;
prefetch_forward = 2;prefetch_backward = 0;prefetch_post = ;
error[E0318]: prefetch must be k or (forward = k, backward = k);
error[E0318]: prefetch must be k or (forward = k, backward = k);
