# RUN: %fsdpc help schedules
# A chapter lists its pages.
==== out
schedules: the learning rate over the steps

  constant              warm-up, then lr
  cosine                warm-up, then half a cosine down to final * lr
  linear                warm-up, then a line down to final * lr
  rsqrt                 warm-up, then lr * sqrt(warmup / step)
  wsd                   warm-up, lr, at the end a line down to final * lr
