# RUN: for v in 0 1; do sed "s/READ/$v/" graph.txt | %fsdpc opt --pass= - > /dev/null; echo "%$v $?"; done
# shard-9: what is in host memory is fetched; a gather of the state itself is an error.
==== graph.txt
graph comm
mesh dp = 2
policy align = 0, offload_params = host, offload_buffers = 1
module 0 "" M
param 0 "a" module 0 f32[8] zeros
state 0 param "param" f32[4] group 0
unit 0 "" M modules 0 groups 0 below 8 owned 8 root
group 0 unit 0 trainable master f32 compute f32 reduce f32 params 0@0 unpadded 8 padded 8 shard 4 split (dp)
program eval
  #0 %0: f32[4] = state {index = 0} !forward -
  #1 %1: f32[4] = fetch(%0) !forward unit 0 -
  #2 %2: f32[8] = unshard(%READ) {unit = 0, axes = (dp), comm = gather, tag = parameter} !forward unit 0 -
  #3 %3: token = reshard(%2) {unit = 0} !forward unit 0 -
end
==== out
%0 1
%1 0
==== err
error[E0521]: shard-9: program eval, #2 unshard: reads %0, which is in memory of the host
  = help: only fetch reads what is in host memory, and only what evict left there is kept there

