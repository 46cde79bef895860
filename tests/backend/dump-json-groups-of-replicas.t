# RUN: for r in 0 3; do %fsdpc dump --format=json --mesh rep=2,dp=2 --rank $r %root/tests/passes/model-t.fsd | %python -c 'import json, sys; d = json.load(sys.stdin); [print(*e[1:4], e[5:]) for e in d["collectives"] if e[2] in ("u0", None)]; print(d["layout"]["u0"]["pieces"])'; done; %fsdpc dump --format=json --mesh rep=2,dp=64 -s train.batch=128 %root/tests/passes/model-t.fsd | %python -c 'import json, sys; print(json.load(sys.stdin)["collectives"][0][5])'; %fsdpc dump --format=json --mesh dp=2,rep=64 -s train.batch=128 %root/tests/passes/model-t.fsd | %python -c 'import json, sys; [print(e[1], e[5]) for e in json.load(sys.stdin)["collectives"] if e[2] == "u0"]'
# A collective names the ranks of the group that the rank belongs to, and its shard is that of its place in dp.
==== out
all_gather u0 24 [[0, 1]]
all_gather u0 24 [[0, 1]]
reduce_scatter u0 24 [[0, 1]]
all_reduce u0 12 [[0, 2]]
all_reduce None 48 [[0, 1, 2, 3], 'metric']
[[0, 0, 12, 0]]
all_gather u0 24 [[2, 3]]
all_gather u0 24 [[2, 3]]
reduce_scatter u0 24 [[2, 3]]
all_reduce u0 12 [[1, 3]]
all_reduce None 48 [[0, 1, 2, 3], 'metric']
[[0, 12, 12, 0]]
{'first': 0, 'count': 64}
all_gather [0, 64]
all_gather [0, 64]
reduce_scatter [0, 64]
all_reduce {'first': 0, 'count': 64}
