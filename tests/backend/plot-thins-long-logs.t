# RUN: python3 -c 'for s in range(4501): print("{\"event\":\"step\",\"step\":%d,\"loss\":%d,\"lr\":1}" % (s, s % 4))' >long.jsonl; %fsdpc plot long.jsonl -o - | sed -n 's/.*points="\(.*\)".*/\1/p' | wc -w; %fsdpc plot long.jsonl -o - | grep -o '(means.*)'
# A log of more than 1500 steps is drawn with means of several steps, and the legend says so.
==== out
1126
(means of 4 steps)
