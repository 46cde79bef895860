# RUN: seq 300 > t.txt; %fsdpc compile -q %root/tests/runtime/toy.fsd -o p -n 2 && %fsdp-run -q --steps 0 --save w p; %fsdp-run -q --threads 1 --load w --generate 12 --tokens 10000000 p > text & p=$!; until test -s text; do sleep 0.1; done; kill -INT $p; wait $p; echo $?; tail -c 1 text | od -An -tx1
# An interrupt ends a text after a token, with a line's end and the exit code of a run that was interrupted.
# NEEDS: build:device_cpu.so
==== out
130
 0a
