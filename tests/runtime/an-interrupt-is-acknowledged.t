# RUN: seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -s train.steps=1000000000 -s train.eval_every=none -o p -n 2; for o in "" "--save w" "--checkpoint ck" "--checkpoint c2 --save w"; do %fsdp-run --threads 1 --log log $o p > out 2> err & p=$!; until grep -q '"step":9,' log 2> /dev/null; do sleep 0.1; done; kill -INT $p; wait $p; echo "exit $?"; grep ^interrupted err; rm log; done
# The first Ctrl-C is acknowledged at once, with what will happen to the run.
# NEEDS: build:device_cpu.so
==== out
exit 130
interrupted: finishing this step; without --checkpoint or --save the training so far is lost; a second Ctrl-C ends the run at once
interrupted after a whole step
exit 130
interrupted: finishing this step, then saving the weights; a second Ctrl-C ends the run at once
interrupted after a whole step; the weights are in w
exit 130
interrupted: finishing this step, then a checkpoint; a second Ctrl-C ends the run at once
interrupted after a whole step; to continue: --resume ck
exit 130
interrupted: finishing this step, then a checkpoint, then saving the weights; a second Ctrl-C ends the run at once
interrupted after a whole step; the weights are in w; to continue: --resume c2
