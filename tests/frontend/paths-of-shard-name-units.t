# RUN: cp %root/tests/passes/model-t.fsd .; %fsdpc dump --stage=wrap -n 2 net.fsd | grep '^unit' | cut -d' ' -f3-
# Beside the units of a class: a module that is one, and modules of two paths that are one.
==== net.fsd
use "model-t.fsd"
shard { unit = Unit; "emb" = unit; "u0" = join("u2") }
==== out
"emb" Embedding modules 1 groups below 16 owned 16
"u0+u2" Unit modules 2, 4 groups below 104 owned 104
"u1" Unit modules 3 groups below 48 owned 48
"" T modules 0 groups below 188 owned 20 root
