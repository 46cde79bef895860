# RUN: seq 300 >t.txt; %fsdpc compile -q %root/tests/nccl/net.fsd -s train.steps=1 -n 2 -o p && %fsdp-run -q --save w p; for o in "--seed 3" "--end-token 128" "--end-token 127"; do %fsdp-run -q --load w --generate 1 --tokens 2 $o p >%t/out; echo $?; done; %fsdp-run --resume a --resume-or-start b p; echo $?
# What would be left aside is said.
# NEEDS: build:device_cpu.so
==== out
1
1
0
1
==== err
error: --seed needs --temperature: without it the likeliest token is taken
help: fsdp-run --help lists the options
error: --generate: --end-token 128: the model's tokens end at 127
error: --resume and --resume-or-start exclude each other
help: fsdp-run --help lists the options
