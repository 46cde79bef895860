# RUN: for s in full grads none; do for u in root Block; do %fsdpc compile -q -n 3 -s shard.strategy=$s -s shard.unit=$u -s train.accumulate=2 -s 'train.optimizer=muon()' %root/tests/optimizers/net.fsd -o p 2> /dev/null && %fsdp-run --quiet --threads 1 --save $s.$u p; done; done; for w in *.root *.Block; do cmp full.root $w; done
# RUN: %fsdpc compile -q -s 'train.optimizer=muon()' %root/tests/optimizers/net.fsd -o p && for t in 1 2 5; do %fsdp-run --quiet --threads $t --save $t p; done; cmp 1 2; cmp 1 5
# Every rank that has a part of a matrix makes all of it orthogonal, from the same numbers: strategy, unit and threads change no bit.
# NEEDS: build:device_cpu.so
