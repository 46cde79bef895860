# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^warning|^note|-->|help:'
# What the language has and this version lacks is exit code 2.
==== m.fsd
shard { layout = param; mesh = (dp = 8, ep = 2) }
data { train = text("a.bin") }
==== out
error[E0390]: mesh axis ep = 2 is not supported yet
 --> m.fsd:1:46
  = help: supported: rep, dp, tp, pp, cp, zigzag
==== exit 2
