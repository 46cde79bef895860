# RUN: %build/cuda/attention_plans
# cuDNN takes our graphs of attention and compiles plans for an H200, within the workspace given.
# NEEDS: build:cuda/attention_plans sanitizer:none
# TIME: 400
==== out
4 forms forward and backward, a plan for each: 0 wrong
