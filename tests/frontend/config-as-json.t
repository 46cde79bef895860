# RUN: %fsdpc dump --stage=config --format=json %s | %python -c 'import json, sys; d = json.load(sys.stdin); print(d["config"], d["train"]["batch"], d["shard"]["mesh"])'
# The JSON form has value and origin of each name.
==== m.fsd
config { L = 2 "blocks" }
train { batch = L }
==== out
{'L': {'value': 2, 'from': 'm.fsd:1', 'doc': 'blocks'}} {'value': 2, 'from': 'm.fsd:2'} {'value': '(dp = 1)', 'from': 'default'}
