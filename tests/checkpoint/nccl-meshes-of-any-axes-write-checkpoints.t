# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; export FSDP_EMULATE_GPUS=4; for m in "--mesh rep=2,dp=2" "--mesh rep=2,dp=1" "--mesh rep=1,dp=2" "-n 2 -s shard.strategy=none"; do rm -rf nccl local; %fsdpc compile -q toy.fsd -s train.batch=8 $m -o p; for t in nccl local; do %build/emulated/run/fsdp-run -q --device cuda --transport $t --threads 1 --checkpoint $t p || exit; rm $t/*/manifest.json; done; diff -r nccl/step-00000006 local/step-00000006 && echo same; done
# Hashes are exchanged over all axes of the mesh, also where no collective of the plan has these.
# NEEDS: build:device_cpu.so build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 100
==== out
same
same
same
same
