# RUN: %python %root/tests/build/walls.py %build
# A room finds the headers of the rooms that it builds on and no others; no list names more than its room
# needs, and no rooms include each other in a circle.
# NEEDS: sanitizer:none
==== out
backend/check: backend/plan ir/base ir/graph ir/ops ir/text
backend/driver: backend/check backend/emit backend/plan backend/report checkpoint frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/fuse passes/sched passes/shard passes/train tensors copies
backend/emit: backend/plan frontend frontend/import ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/fuse passes/sched passes/shard passes/train
backend/plan: ir/base ir/graph ir/ops ir/text
backend/report: backend/plan ir/base ir/graph ir/ops ir/text
checkpoint: copies
frontend: frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
frontend/evaluate: frontend frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
frontend/help: frontend frontend/evaluate frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify copies
frontend/import: frontend frontend/evaluate frontend/help frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
frontend/model: frontend frontend/evaluate frontend/help frontend/import frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify copies
frontend/settings: frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
frontend/syntax: frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify copies
frontend/tensors: frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
frontend/vocabulary: frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax ir/base ir/graph ir/ops ir/text ir/verify
frontend/weights: frontend frontend/evaluate frontend/help frontend/import frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops ir/text ir/verify
ir/base: 
ir/graph: ir/base ir/ops
ir/ops: ir/base
ir/text: ir/base ir/graph ir/ops
ir/verify: ir/base ir/graph ir/ops ir/text
passes: ir/base ir/graph ir/ops ir/text ir/verify passes/comm passes/fuse passes/sched passes/shard passes/train
passes/comm: ir/base ir/graph ir/ops ir/text ir/verify passes passes/fuse passes/sched passes/shard passes/train
passes/fuse: ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/sched passes/shard passes/train
passes/sched: ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/fuse passes/shard passes/train
passes/shard: ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/fuse passes/sched passes/train
passes/train: ir/base ir/graph ir/ops ir/text ir/verify passes passes/comm passes/fuse passes/sched passes/shard
runtime/data: checkpoint runtime runtime/execute runtime/launch runtime/metrics runtime/run runtime/state runtime/transports/local tensors copies
runtime/devices/cpu/arrays: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/attention: runtime runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/device (device): runtime runtime/devices/cpu/attention runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/device (kernel): runtime runtime/devices/cpu/attention runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/elements: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/experts: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/losses: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/norms: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/optimizers: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/products: runtime runtime/devices/cpu/attention runtime/devices/cpu/device runtime/devices/cpu/elements runtime/devices/cpu/norms runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cuda/arrays: runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/attention (cuda): runtime runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/attention (emulated): runtime runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/attention (nvcc): runtime runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/device (cuda): runtime runtime/devices/cuda/attention runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/device (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/elements (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/elements (together): 
runtime/devices/cuda/experts (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/experts (together): 
runtime/devices/cuda/losses (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/losses (together): 
runtime/devices/cuda/norms (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/norms (together): 
runtime/devices/cuda/optimizers (emulated): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/optimizers (nvcc): runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/optimizers (together): 
runtime/devices/cuda/products: runtime runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/elements runtime/devices/cuda/norms runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/execute: checkpoint runtime runtime/data runtime/launch runtime/metrics runtime/run runtime/state runtime/transports/local tensors copies
runtime/launch (mpi): runtime runtime/transports/local runtime/transports/mpi copies
runtime/launch (runtime.launch): checkpoint runtime runtime/data runtime/execute runtime/metrics runtime/run runtime/state runtime/transports/local tensors copies
runtime/launch (tcp): runtime runtime/transports/local runtime/transports/tcp copies
runtime/metrics: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/run runtime/state runtime/transports/local tensors copies
runtime/run: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/metrics runtime/state runtime/transports/local tensors copies
runtime/state: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/metrics runtime/run runtime/transports/local tensors copies
runtime/transports/local: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/metrics runtime/run runtime/state tensors copies
runtime/transports/mpi: runtime runtime/launch runtime/transports/local copies
runtime/transports/nccl (nccl): runtime runtime/devices/shared runtime/launch runtime/transports/local runtime/transports/tcp copies
runtime/transports/nccl (nvcc_nccl): 
runtime/transports/tcp: runtime runtime/launch runtime/transports/local copies
tensors: copies
backend/driver names backend/check without need
backend/driver names passes/train without need
backend/driver names passes/fuse without need
backend/driver names passes/shard without need
backend/driver names passes/comm without need
backend/driver names passes/sched without need
backend/driver names frontend/syntax without need
backend/driver names frontend/model without need
backend/driver names frontend/tensors without need
backend/driver names frontend/evaluate without need
backend/driver names frontend/settings without need
backend/driver names frontend/weights without need
backend/driver names ir/text without need
backend/driver names ir/verify without need
backend/emit names passes/train without need
backend/emit names passes/fuse without need
backend/emit names passes/shard without need
backend/emit names passes/comm without need
backend/emit names passes/sched without need
backend/emit names ir/verify without need
frontend names frontend/tensors without need
frontend names frontend/settings without need
frontend names frontend/weights without need
frontend names frontend/help without need
frontend names ir/text without need
frontend names ir/verify without need
frontend/evaluate names frontend/tensors without need
frontend/evaluate names frontend/settings without need
frontend/evaluate names frontend/weights without need
frontend/evaluate names frontend/help without need
frontend/evaluate names ir/text without need
frontend/evaluate names ir/verify without need
frontend/help names frontend without need
frontend/help names frontend/model without need
frontend/help names frontend/tensors without need
frontend/help names frontend/evaluate without need
frontend/help names frontend/settings without need
frontend/help names frontend/weights without need
frontend/help names frontend/import without need
frontend/help names ir/text without need
frontend/help names ir/verify without need
frontend/help names %b/frontend/syntax without need
frontend/import names frontend/tensors without need
frontend/import names frontend/evaluate without need
frontend/import names frontend/settings without need
frontend/import names frontend/weights without need
frontend/import names frontend/help without need
frontend/import names ir/text without need
frontend/import names ir/verify without need
frontend/model names frontend/tensors without need
frontend/model names frontend/settings without need
frontend/model names frontend/weights without need
frontend/model names frontend/help without need
frontend/model names ir/text without need
frontend/model names ir/verify without need
frontend/model names %b/frontend/syntax without need
frontend/settings names frontend/tensors without need
frontend/settings names frontend/weights without need
frontend/settings names frontend/help without need
frontend/settings names ir/text without need
frontend/settings names ir/verify without need
frontend/syntax names frontend/model without need
frontend/syntax names frontend/tensors without need
frontend/syntax names frontend/evaluate without need
frontend/syntax names frontend/settings without need
frontend/syntax names frontend/weights without need
frontend/syntax names frontend/help without need
frontend/syntax names ir/text without need
frontend/syntax names ir/verify without need
frontend/tensors names frontend/settings without need
frontend/tensors names frontend/weights without need
frontend/tensors names frontend/help without need
frontend/tensors names ir/text without need
frontend/tensors names ir/verify without need
frontend/vocabulary names frontend without need
frontend/vocabulary names frontend/syntax without need
frontend/vocabulary names frontend/model without need
frontend/vocabulary names frontend/tensors without need
frontend/vocabulary names frontend/evaluate without need
frontend/vocabulary names frontend/settings without need
frontend/vocabulary names frontend/weights without need
frontend/vocabulary names frontend/import without need
frontend/vocabulary names frontend/help without need
frontend/vocabulary names ir/text without need
frontend/vocabulary names ir/verify without need
frontend/weights names frontend/tensors without need
frontend/weights names frontend/settings without need
frontend/weights names frontend/help without need
frontend/weights names ir/text without need
frontend/weights names ir/verify without need
passes names passes/train without need
passes names passes/fuse without need
passes names passes/shard without need
passes names passes/comm without need
passes names passes/sched without need
passes names ir/text without need
passes names ir/verify without need
passes/comm names passes/train without need
passes/comm names passes/fuse without need
passes/comm names passes/sched without need
passes/comm names ir/text without need
passes/comm names ir/verify without need
passes/fuse names passes/comm without need
passes/fuse names passes/sched without need
passes/fuse names ir/text without need
passes/fuse names ir/verify without need
passes/sched names passes/train without need
passes/sched names passes/fuse without need
passes/sched names passes/shard without need
passes/sched names passes/comm without need
passes/sched names ir/text without need
passes/sched names ir/verify without need
passes/shard names passes/train without need
passes/shard names passes/fuse without need
passes/shard names passes/comm without need
passes/shard names passes/sched without need
passes/shard names ir/text without need
passes/shard names ir/verify without need
passes/train names passes/fuse without need
passes/train names passes/comm without need
passes/train names passes/sched without need
passes/train names ir/text without need
passes/train names ir/verify without need
runtime/data names runtime/metrics without need
runtime/data names runtime/execute without need
runtime/data names runtime/state without need
runtime/data names runtime/launch without need
runtime/data names runtime/run without need
runtime/data names runtime/transports/local without need
runtime/data names checkpoint without need
runtime/devices/cpu/arrays names runtime/devices/cpu/elements without need
runtime/devices/cpu/arrays names runtime/devices/cpu/products without need
runtime/devices/cpu/arrays names runtime/devices/cpu/attention without need
runtime/devices/cpu/arrays names runtime/devices/cpu/norms without need
runtime/devices/cpu/attention names runtime/devices/cpu/elements without need
runtime/devices/cpu/attention names runtime/devices/cpu/products without need
runtime/devices/cpu/attention names runtime/devices/cpu/norms without need
runtime/devices/cpu/device (device) names runtime/devices/shared without need
runtime/devices/cpu/device (device) names runtime/devices/cpu/elements without need
runtime/devices/cpu/device (device) names runtime/devices/cpu/products without need
runtime/devices/cpu/device (device) names runtime/devices/cpu/attention without need
runtime/devices/cpu/device (device) names runtime/devices/cpu/norms without need
runtime/devices/cpu/device (kernel) names runtime/devices/shared without need
runtime/devices/cpu/device (kernel) names runtime/devices/cpu/elements without need
runtime/devices/cpu/device (kernel) names runtime/devices/cpu/products without need
runtime/devices/cpu/device (kernel) names runtime/devices/cpu/attention without need
runtime/devices/cpu/device (kernel) names runtime/devices/cpu/norms without need
runtime/devices/cpu/elements names runtime/devices/shared without need
runtime/devices/cpu/elements names runtime/devices/cpu/products without need
runtime/devices/cpu/elements names runtime/devices/cpu/attention without need
runtime/devices/cpu/elements names runtime/devices/cpu/norms without need
runtime/devices/cpu/experts names runtime/devices/shared without need
runtime/devices/cpu/experts names runtime/devices/cpu/elements without need
runtime/devices/cpu/experts names runtime/devices/cpu/products without need
runtime/devices/cpu/experts names runtime/devices/cpu/attention without need
runtime/devices/cpu/experts names runtime/devices/cpu/norms without need
runtime/devices/cpu/losses names runtime/devices/shared without need
runtime/devices/cpu/losses names runtime/devices/cpu/elements without need
runtime/devices/cpu/losses names runtime/devices/cpu/products without need
runtime/devices/cpu/losses names runtime/devices/cpu/attention without need
runtime/devices/cpu/losses names runtime/devices/cpu/norms without need
runtime/devices/cpu/norms names runtime/devices/shared without need
runtime/devices/cpu/norms names runtime/devices/cpu/elements without need
runtime/devices/cpu/norms names runtime/devices/cpu/products without need
runtime/devices/cpu/norms names runtime/devices/cpu/attention without need
runtime/devices/cpu/optimizers names runtime/devices/cpu/elements without need
runtime/devices/cpu/optimizers names runtime/devices/cpu/products without need
runtime/devices/cpu/optimizers names runtime/devices/cpu/attention without need
runtime/devices/cpu/optimizers names runtime/devices/cpu/norms without need
runtime/devices/cpu/products names runtime/devices/shared without need
runtime/devices/cpu/products names runtime/devices/cpu/elements without need
runtime/devices/cpu/products names runtime/devices/cpu/attention without need
runtime/devices/cpu/products names runtime/devices/cpu/norms without need
runtime/devices/cuda/arrays names runtime/devices/cuda/elements without need
runtime/devices/cuda/arrays names runtime/devices/cuda/products without need
runtime/devices/cuda/arrays names runtime/devices/cuda/attention without need
runtime/devices/cuda/attention (cuda) names runtime/devices/cuda/elements without need
runtime/devices/cuda/attention (cuda) names runtime/devices/cuda/norms without need
runtime/devices/cuda/attention (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/attention (emulated) names runtime/devices/cuda/norms without need
runtime/devices/cuda/attention (nvcc) names runtime/devices/cuda/elements without need
runtime/devices/cuda/attention (nvcc) names runtime/devices/cuda/norms without need
runtime/devices/cuda/device (cuda) names runtime/devices/shared without need
runtime/devices/cuda/device (cuda) names runtime/devices/cuda/elements without need
runtime/devices/cuda/device (cuda) names runtime/devices/cuda/norms without need
runtime/devices/cuda/device (emulated) names runtime/devices/shared without need
runtime/devices/cuda/device (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/device (emulated) names runtime/devices/cuda/norms without need
runtime/devices/cuda/elements (emulated) names runtime/devices/shared without need
runtime/devices/cuda/elements (emulated) names runtime/devices/cuda/products without need
runtime/devices/cuda/elements (emulated) names runtime/devices/cuda/attention without need
runtime/devices/cuda/elements (emulated) names runtime/devices/cuda/norms without need
runtime/devices/cuda/experts (emulated) names runtime/devices/shared without need
runtime/devices/cuda/experts (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/experts (emulated) names runtime/devices/cuda/products without need
runtime/devices/cuda/experts (emulated) names runtime/devices/cuda/attention without need
runtime/devices/cuda/losses (emulated) names runtime/devices/shared without need
runtime/devices/cuda/losses (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/losses (emulated) names runtime/devices/cuda/products without need
runtime/devices/cuda/losses (emulated) names runtime/devices/cuda/attention without need
runtime/devices/cuda/norms (emulated) names runtime/devices/shared without need
runtime/devices/cuda/norms (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/norms (emulated) names runtime/devices/cuda/products without need
runtime/devices/cuda/norms (emulated) names runtime/devices/cuda/attention without need
runtime/devices/cuda/optimizers (emulated) names runtime/devices/cuda/elements without need
runtime/devices/cuda/optimizers (emulated) names runtime/devices/cuda/attention without need
runtime/devices/cuda/optimizers (emulated) names runtime/devices/cuda/norms without need
runtime/devices/cuda/optimizers (nvcc) names runtime/devices/cuda/elements without need
runtime/devices/cuda/optimizers (nvcc) names runtime/devices/cuda/attention without need
runtime/devices/cuda/optimizers (nvcc) names runtime/devices/cuda/norms without need
runtime/devices/cuda/products names runtime/devices/cuda/numbers without need
runtime/devices/cuda/products names runtime/devices/cuda/elements without need
runtime/devices/cuda/products names runtime/devices/cuda/attention without need
runtime/devices/cuda/products names runtime/devices/cuda/norms without need
runtime/execute names runtime/metrics without need
runtime/execute names runtime/state without need
runtime/execute names runtime/launch without need
runtime/execute names runtime/run without need
runtime/execute names runtime/transports/local without need
runtime/launch (mpi) names runtime/transports/local without need
runtime/launch (mpi) names runtime/transports/mpi without need
runtime/launch (runtime.launch) names runtime/metrics without need
runtime/launch (runtime.launch) names runtime/execute without need
runtime/launch (runtime.launch) names runtime/state without need
runtime/launch (runtime.launch) names runtime/run without need
runtime/launch (runtime.launch) names runtime/transports/local without need
runtime/launch (tcp) names runtime/transports/local without need
runtime/launch (tcp) names runtime/transports/tcp without need
runtime/metrics names runtime/execute without need
runtime/metrics names runtime/state without need
runtime/metrics names runtime/launch without need
runtime/metrics names runtime/run without need
runtime/metrics names runtime/transports/local without need
runtime/metrics names checkpoint without need
runtime/run names runtime/metrics without need
runtime/run names runtime/state without need
runtime/run names runtime/transports/local without need
runtime/state names runtime/metrics without need
runtime/state names runtime/launch without need
runtime/state names runtime/run without need
runtime/state names runtime/transports/local without need
runtime/transports/local names runtime/data without need
runtime/transports/local names runtime/metrics without need
runtime/transports/local names runtime/execute without need
runtime/transports/local names runtime/state without need
runtime/transports/local names runtime/launch without need
runtime/transports/local names runtime/run without need
runtime/transports/local names checkpoint without need
runtime/transports/local names tensors without need
runtime/transports/nccl (nccl) names runtime/launch without need
runtime/transports/nccl (nccl) names runtime/transports/local without need
runtime/transports/tcp names runtime/transports/local without need
circle: frontend frontend/evaluate frontend/import frontend/model frontend/syntax
circle: runtime/devices/cuda/attention runtime/devices/cuda/device runtime/devices/cuda/products
