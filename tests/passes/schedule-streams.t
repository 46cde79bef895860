# RUN: %fsdpc dump --stage=sched -n 2 -s train.precision=bf16 %root/tests/passes/model-t.fsd | sed -n '/^program/,$s/.*\[\(gather\|reduce\)\].*= \([a-z_]*\)(%.*/\1 \2/p' | sort | uniq -c
# Gathers and the casts that feed them are on stream gather, reductions on reduce, all else on compute.
==== out
     11 gather cast
     11 gather unshard
      2 reduce all_reduce
      4 reduce reduce_scatter
