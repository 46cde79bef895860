# RUN: %fsdpc dump --stage=sched -n 1 %root/tests/passes/model-t.fsd | awk '/wait\(/ { n++ } END { print n + 0 }'
# On one rank there is one stream, and nothing waits.
==== out
0
