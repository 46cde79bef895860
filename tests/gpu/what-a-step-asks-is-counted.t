# RUN: for plant in none malloc wait; do ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=%build/gpu/watch.so FSDP_WATCH=%t/$plant %build/gpu/watched %build/tests/modules/libcudart.so.13 $plant && tr '{}' '\n\n' <%t/$plant | grep -A1 '"steady"\|free_early'; done
# The library in front of the CUDA runtime sees an allocation and a wait that a step should not have.
==== out
"periods":7,"free_early":999,"free_late":999,"warm_up":
"allocations":1,"releases":0,"waits":0,"metric_waits":2,"launches":1,"graphs":2,"copies_in":3,"copies_out":3,"events":0
,"steady":
"allocations":0,"releases":0,"waits":0,"metric_waits":7,"launches":0,"graphs":7,"copies_in":7,"copies_out":7,"events":0
"periods":7,"free_early":999,"free_late":998,"warm_up":
"allocations":1,"releases":0,"waits":0,"metric_waits":2,"launches":1,"graphs":2,"copies_in":3,"copies_out":3,"events":0
,"steady":
"allocations":1,"releases":0,"waits":0,"metric_waits":7,"launches":0,"graphs":7,"copies_in":7,"copies_out":7,"events":0
"periods":7,"free_early":999,"free_late":999,"warm_up":
"allocations":1,"releases":0,"waits":0,"metric_waits":2,"launches":1,"graphs":2,"copies_in":3,"copies_out":3,"events":0
,"steady":
"allocations":0,"releases":0,"waits":1,"metric_waits":7,"launches":0,"graphs":7,"copies_in":7,"copies_out":7,"events":0
