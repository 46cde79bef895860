# RUN: %fsdpc compile -n 8 -s 'data.train=text("x")' -s data.val=none -s shard.unit=root %root/models/gpt2.fsd -o p.bin 2>&1 | grep -E "^warning|= help"
# NO_WRAP, or one unit for the whole model: a warning says that nothing is saved, and what to write.
==== out
warning[W0401]: one unit of 124M parameters is gathered at once; write unit = Block
  = help: that is 237 MiB on every rank, as much as without sharding
