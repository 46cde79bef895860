# RUN: %fsdpc compile -q %root/models/mlp.fsd -s hidden=16 --mesh dp=2,tp=2 -o p; %fsdpc dump p | grep -E '^  (parameters|parts|sharding) '; %fsdpc dump --format=text p | grep -E '^param '; %fsdpc dump --format=json p | %python -c 'import json, sys; [print(g["parameters"], g.get("parts")) for g in json.load(sys.stdin)["layout"][""]["groups"]]'
# A dump counts and shows parameters that ranks along tp share out as whole ones.
==== out
