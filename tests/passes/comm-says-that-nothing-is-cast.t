# RUN: for c in auto update gather; do %fsdpc dump --stage=comm -n 2 -s shard.cast=$c %root/tests/passes/model-t.fsd 2>&1 >out | sed -n 1p; done
# Parameters that are read as they are kept are never cast; to say when has no effect.
==== out
warning[W0302]: parameters are read in the dtype in which they are kept: cast has no effect
warning[W0302]: parameters are read in the dtype in which they are kept: cast has no effect
