# RUN: %fsdpc compile -q --mesh pp=2,dp=2 -s train.steps=2 %root/tests/pipeline/net.fsd -o p; for with in "" "--overlap on" "--transport tcp"; do %python %root/tests/pipeline/idle.py %fsdpc %fsdp-run p --threads 1 $with && rm trace.json*; done
# The table of --profile has how long each stage waited for others and did nothing else, as the trace shows it: where one
# thread issues all streams, where each has a thread, and where each rank is a process.
# NEEDS: build:device_cpu.so build:transport_tcp.so sanitizer:none
# WAITS: for ranks in other processes
==== out
stage 0 calls 16 idle
stage 1 calls 10 idle
stage 0 calls 16 idle
stage 1 calls 10 idle
stage 0 calls 16 idle
stage 1 calls 10 idle
