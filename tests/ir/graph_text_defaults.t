# RUN: %fsdpc opt --pass= %s
# What a graph leaves out has a default, and numbers become canonical.
==== graph.txt
graph shard

mesh dp = 2
policy unit = manual(["h.0", "h.1"], ["\x0a\x22é"])
policy clip = 1e-7, loss_exponent = -12
module 0 "" "a class"
program eval
  #4 %5: f32[2, 3] = fill !forward "x"
  #2 %3: f32[2] = fill {alpha = -0.1} !forward unit -1 -
end
==== out
graph shard
mesh dp = 2
policy strategy = full, unit = manual(["h.0", "h.1"], ["\x0a\x22é"]), reshard = true, reshard_root = false, accumulate_local = false, hold = false, all_reduce_last = false, prefetch_forward = 1, prefetch_backward = 1, prefetch_post = false, inflight = 2, reduce_buffers = 1, bucket = 0, bucket_bytes = 0, layout = flat, align = 16
policy micro_batches = 1, batch = 1, compute_dtype = f32, reduce_dtype = f32, optimizer = sgd, beta1 = 0.9, beta2 = 0.999, eps = 1e-08, eps2 = 0, limit = 0, weight_decay = 0, momentum = 0, nesterov = false, clip = 1e-07, clip_value = 0, on_nan = stop, loss_exponent = -12
module 0 "" "a class"
program eval
  #0 %0: f32[2, 3] = fill {alpha = 0} !forward "x"
  #1 %1: f32[2] = fill {alpha = -0.1} !forward -
end
