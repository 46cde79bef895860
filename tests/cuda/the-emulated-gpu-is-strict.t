# RUN: %build/emulated/strict 2>&1
# What CUDA forbids or leaves to luck does not pass on the emulated GPU; the pinned ring keeps what it is given.
# NEEDS: build:emulated/strict
==== out
a graph of two streams: error 0, allowed
a stream that does not come back: error 904, allowed
a graph that is gone: emulated GPU: cudaGraphLaunch of something that is no graph
refused
an event of a capture that has ended: emulated GPU: cudaStreamWaitEvent of an event of a capture that has ended
refused
an event that is gone: emulated GPU: cudaStreamWaitEvent of something that is no event
refused
an allocation in a capture: emulated GPU: cudaMalloc while a stream is captured
refused
another event's state in a capture: emulated GPU: cudaEventQuery while a stream is captured
refused
the legacy stream in a capture: emulated GPU: cudaMemset while a stream is captured
refused
a kernel that is new in a capture: emulated GPU: nothing is launched for the first time, in a capture
refused
an allocation beside a capture of this thread's: allowed
an allocation beside a capture of everybody's: emulated GPU: cudaMalloc while another thread captures in global mode
refused
a capture that another thread ends: error 908, allowed
a thread that chose no GPU: emulated GPU: cudaMemGetInfo by a thread that has not chosen its GPU
refused
a stream that the legacy stream waits for: emulated GPU: a stream that the legacy stream waits for
refused
a copy beyond its memory: emulated GPU: cudaMemcpyAsync beyond an allocation
refused
a copy behind the legacy stream's: overtaken, allowed
memory's alignment: 256, allowed
the pinned ring: all of it, allowed
the pinned ring: all of it, allowed
the pinned ring: all of it, allowed
