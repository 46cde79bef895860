# RUN: %fsdpc dump --stage=train -n 2 %root/tests/passes/shared-and-frozen.fsd | sed 's/^mesh.*/mesh dp = 2, tp = 1/' | %fsdpc opt --pass=wrap,shard,optimizer,comm - 2> /dev/null | grep -c '= unshard'
# An axis of the mesh that has one rank changes nothing.
==== out
14
