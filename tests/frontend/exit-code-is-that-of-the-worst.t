# RUN: %fsdpc dump --stage=config %s -s 'shard.mesh=(ep = 2)' 2>%t/err; test $? = 2 && grep -q E0390 %t/err
# RUN: %fsdpc dump --stage=config %s -s 'shard.mesh=(ep = 2)' -s train.batc=4 2>%t/err; test $? = 1 && grep -q E0390 %t/err
# An unsupported feature ends with exit code 2; together with a mistake of the user the exit code is 1.
==== m.fsd
module M { w : param[4] = zeros }
model = M
