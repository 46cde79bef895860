# RUN: %fsdpc dump --stage=sched %root/tests/passes/model-t.fsd -n 2 >%t/sched
# RUN: %fsdpc opt --pass=memory,edges %t/sched | cmp - %t/sched
# Addresses and edges depend only on the ops: running the passes again gives the same result.
