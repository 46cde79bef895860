# RUN: cp %root/tests/passes/model-t.fsd .; %fsdpc dump --stage=wrap -n 2 net.fsd | grep '^unit' | cut -d' ' -f3-
# A module that is named explicitly is not also a unit of the rule; each match of a glob is a unit.
==== net.fsd
use "model-t.fsd"
shard { unit = Unit; "u*" = unit; "emb" = join("head") }
==== out
"emb+head" Embedding modules 1, 5 groups below 36 owned 36
"u0" Unit modules 2 groups below 24 owned 24
"u1" Unit modules 3 groups below 48 owned 48
"u2" Unit modules 4 groups below 80 owned 80
