# RUN: %fsdpc compile -q %root/models/mlp.fsd -s hidden=16 --mesh dp=2,tp=2 -o p; %fsdpc dump p | grep -E '^  (parameters  [0-9]+,|parts|sharding)'; %fsdpc dump --raw p | grep -E '^param '; %fsdpc dump --format=json p | %python -c 'import json, sys; [print(g["parameters"], g.get("parts")) for g in json.load(sys.stdin)["layout"][""]["groups"]]'
# A dump counts and shows parameters that ranks along tp share out as whole ones.
==== out
  parameters  12,730, kept in f32, read in f32, gradients reduced in f32
  parts       ranks along tp share out 12,720 of these parameters
  sharding    1 unit; parameters, gradients and optimizer state are split over 2 ranks
param 0 "fc1.weight" f32[16, 784] cut tp axis 0 runs 1 length 16 normal(0.02) key "fc1.weight" checkpoint "fc1.weight"
param 1 "fc1.bias" f32[16] cut tp axis 0 runs 1 length 16 zeros key "fc1.bias" checkpoint "fc1.bias"
param 2 "fc2.weight" f32[10, 16] cut tp axis 1 runs 1 length 16 normal(0.02) key "fc2.weight" checkpoint "fc2.weight"
param 3 "fc2.bias" f32[10] zeros key "fc2.bias" checkpoint "fc2.bias"
[['fc1.weight', [16, 784], 12544], ['fc1.bias', [16], 16], ['fc2.weight', [10, 16], 160]] 2
[['fc2.bias', [10], 10]] None
