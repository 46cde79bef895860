# RUN: %fsdpc dump --stage=comm -n 2 -s train.accumulate=2 %root/tests/passes/model-t.fsd | sed -n '/^program first/,/^program/p' | grep -E 'set_state|= free' | tail -2 | sed -E 's/.*(set_state|free)[^!]*(![a-z]+).*/\1 \2/'
# The last unit's gradients, which are kept and freed after all other ops, belong to backward like those before.
==== out
set_state !backward
free !backward
