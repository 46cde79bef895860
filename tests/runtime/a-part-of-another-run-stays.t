# RUN: cp %root/tests/checkpoint/toy.fsd .
# RUN: seq 300 > t.txt; %fsdpc compile -q toy.fsd -o p; bash -c 'exec 9> w.part-$$; flock 9; echo of another run >&9; exec %fsdp-run -q --threads 1 --save w p'; cat w.part-*; ls w
# An unfinished save of another run is left alone, even if that run has the same process number on another host.
# NEEDS: build:device_cpu.so
==== out
of another run
w
