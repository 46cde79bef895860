# RUN: for n in 2 4; do %fsdpc dump --machine %root/machines/h100-80.machine %root/models/gpt2.fsd --mesh tp=$n -s train.batch=64 | grep 'collectives overlap\|exposed'; done
# Simulated, the reductions of backward run beside the gradients of weights. In front of these, as they were once, 21.7 ms
# of the step of two ranks were exposed, and 27.1 of four; the rest are gathers, and forward's reductions.
==== out
136 of 140 collectives overlap computation; these do not: #513 all_gather_part metrics, #516 all_gather_part metrics,
49 of 51 collectives overlap computation; these do not: #1580 all_gather_part metrics, #1583 all_gather_part metrics
step 118 ms, MFU 22 %, 16.1 ms exposed; 18,865 steps 37 min, 1.2 device-hours; 45 % of it fitted, 54 % published, 1 % assumed
136 of 140 collectives overlap computation; these do not: #513 all_gather_part metrics, #516 all_gather_part metrics,
49 of 51 collectives overlap computation; these do not: #1580 all_gather_part metrics, #1583 all_gather_part metrics
step 75.3 ms, MFU 18 %, 21.0 ms exposed; 18,865 steps 24 min, 1.6 device-hours; 35 % of it fitted, 63 % published, 2 % assumed
