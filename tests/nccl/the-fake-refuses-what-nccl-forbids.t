# RUN: for c in right one-gpu in-progress destroy-with-graph count kind graph in-place outside too-early absent after-abort; do timeout 400 %build/emulated/run/fake_test $c 3 2>&1 | sort -u; done
# The NCCL of these tests gives the right numbers, issued or replayed, and names each call that is wrong.
# NEEDS: build:emulated/run/fake_test
==== out
right: good
Duplicate GPU detected : rank 2 and rank 1 both on CUDA device 0
one-gpu: good
fake NCCL: ncclCommSplit: communicator 0 is still in progress
in-progress: refused
destroy-with-graph: refused
fake NCCL: ncclCommDestroy: a graph still holds communicator 0
count: refused
fake NCCL: communicator 0, its collective 4: rank 0 asks for all_gather of 20 elements of dtype 7 (operation 0, root 0), rank 1 for all_gather of 40 of dtype 7 (operation 0, root 0)
fake NCCL: communicator 0, its collective 4: rank 0 asks for all_gather of 40 elements of dtype 7 (operation 0, root 0), rank 1 for all_reduce of 40 of dtype 7 (operation 0, root 0)
kind: refused
fake NCCL: communicator 0, its collective 4: rank 0 issues all_gather directly, rank 1 from a graph
graph: refused
fake NCCL: all_gather: input and output overlap
in-place: refused
fake NCCL: all_gather: a buffer outside of the GPU's memory
outside: refused
fake NCCL: communicator 0, its collective 4, all_gather: the input was changed while it ran
too-early: refused
absent: good
after-abort: refused
fake NCCL: all_gather: communicator 0 was destroyed or aborted
