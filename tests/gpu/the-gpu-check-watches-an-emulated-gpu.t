# RUN: %python %root/tests/gpu/rehearse.py %build %t run --only watch,tuned,graph,nccl,memcheck,racecheck | sed '1,/^libnccl/d'
# The rows of tests/gpu/run that watch calls, tune, time and start processes hold on an emulated GPU.
# NEEDS: build:emulated/run/transport_nccl.so sanitizer:none
# TIME: 600
==== out
watch held N s a step: N launches N graphs; N launches N graphs; N launches N graphs
tuned held N s N products; equal bits from the file; N from plain; a run of N s, with the file N s
graph held N s graph N ms (+-N %); direct N ms (+-N %); 4x64 tokens: N and N ms
nccl held N s 6 plans, on one GPU: 2 ranks equal bits, 4 ranks N from local; a killed rank ends all in N s; NCCL: 2 communicators, arena offered as a symmetric window
memcheck held N s N ops
racecheck held N s N ops
6 rows without a fault, 0 failed
