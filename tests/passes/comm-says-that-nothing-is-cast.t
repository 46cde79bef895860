# RUN: for c in auto update gather; do %fsdpc compile -q -n 2 -s shard.cast=$c %root/tests/passes/model-t.fsd -o %t/p 2>&1; done
# Parameters that are read as they are kept are never cast; to say when has no effect.
==== out
