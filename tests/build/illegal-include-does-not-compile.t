# RUN: %python %root/tests/build/walls.py %build
# A room finds the headers of the rooms that it builds on and no others; no list names more than its room
# needs, and no rooms include each other in a circle.
# NEEDS: sanitizer:none
==== out
backend/check: backend/plan ir/base ir/cut ir/graph ir/ops ir/text
backend/check/placement: backend/check backend/plan ir/base ir/cut ir/graph ir/ops
backend/check/stages: backend/check backend/plan ir/base ir/cut ir/graph ir/ops
backend/driver: backend/emit backend/plan backend/report checkpoint foresight/fit foresight/machine foresight/measure foresight/step frontend frontend/families frontend/help frontend/model frontend/vocabulary ir/base ir/graph ir/ops passes tensors copies
backend/emit: backend/plan frontend frontend/model ir/base ir/graph ir/ops ir/text passes
backend/plan: ir/base ir/graph ir/ops ir/text
backend/report: backend/plan ir/base ir/graph ir/ops ir/text
checkpoint: tensors copies
foresight/fit: backend/emit backend/plan backend/report frontend frontend/model ir/base ir/graph ir/ops passes
foresight/machine: ir/base ir/ops
foresight/measure: backend/emit backend/plan foresight/machine foresight/step frontend frontend/model ir/base ir/graph ir/ops passes copies
foresight/step: backend/plan backend/report foresight/machine ir/base ir/graph ir/ops
frontend: frontend/evaluate frontend/import frontend/model frontend/settings frontend/syntax frontend/tensors frontend/vocabulary frontend/weights ir/base ir/cut ir/graph ir/ops
frontend/evaluate: frontend/model frontend/syntax frontend/tensors frontend/vocabulary ir/base ir/graph ir/ops
frontend/families: frontend frontend/evaluate frontend/model frontend/settings frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops tensors copies
frontend/help: frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
frontend/import: frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
frontend/model: frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
frontend/settings: frontend/evaluate frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
frontend/syntax: frontend/vocabulary ir/base ir/graph ir/ops copies
frontend/tensors: frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
frontend/vocabulary: ir/base ir/graph ir/ops
frontend/weights: frontend/evaluate frontend/model frontend/syntax frontend/vocabulary ir/base ir/graph ir/ops
ir/base: 
ir/cut: ir/base ir/ops
ir/graph: ir/base ir/ops
ir/ops (ir.module): ir/base
ir/ops (ir.ops): ir/base
ir/text: ir/base ir/graph ir/ops
ir/verify: ir/base ir/graph ir/ops ir/text
passes: ir/base ir/graph ir/ops
passes/comm: ir/base ir/graph ir/ops passes passes/shard
passes/fuse: ir/base ir/graph ir/ops passes passes/shard passes/train
passes/place: ir/base ir/cut ir/graph ir/ops passes
passes/sched: ir/base ir/graph ir/ops passes
passes/shard: ir/base ir/graph ir/ops passes
passes/stages: ir/base ir/graph ir/ops passes passes/shard
passes/train: ir/base ir/graph ir/ops passes passes/shard
runtime/data: runtime/options runtime/random tensors copies
runtime/devices/cpu/arrays: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/attention: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/device (device): runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/cpu/products runtime/devices/shared copies
runtime/devices/cpu/device (kernel): runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/elements: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/experts: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/losses: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/norms: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/optimizers: runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/products (device): runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cpu/products (kernel): runtime runtime/devices/cpu/kernel runtime/devices/cpu/numbers runtime/devices/shared copies
runtime/devices/cuda/arrays (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/arrays (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/attention (cuda): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/attention (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/attention (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/device: runtime runtime/devices/cuda/attention runtime/devices/cuda/kernel runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/elements (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/elements (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/experts (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/experts (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/losses (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/losses (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/norms (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/norms (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/optimizers (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/optimizers (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/cuda/products runtime/devices/shared copies
runtime/devices/cuda/products (cuda): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/products (emulated): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/cuda/products (nvcc): runtime runtime/devices/cuda/kernel runtime/devices/cuda/numbers runtime/devices/shared copies
runtime/devices/shared (cuda): runtime runtime/devices/cuda/kernel copies
runtime/devices/shared (device): runtime runtime/devices/cpu/kernel copies
runtime/execute: runtime runtime/launch runtime/metrics runtime/options runtime/schedule tensors copies
runtime/launch: checkpoint runtime runtime/machine runtime/options tensors copies
runtime/machine: 
runtime/metrics: runtime runtime/data runtime/launch runtime/options runtime/schedule tensors copies
runtime/options: runtime tensors copies
runtime/random: 
runtime/run: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/machine runtime/metrics runtime/options runtime/random runtime/schedule runtime/state runtime/testing runtime/transports/local tensors copies
runtime/schedule: copies
runtime/state: checkpoint runtime runtime/data runtime/execute runtime/launch runtime/metrics runtime/options runtime/random runtime/schedule tensors copies
runtime/testing: runtime runtime/execute runtime/launch runtime/metrics runtime/options runtime/random runtime/schedule tensors copies
runtime/transports/local: runtime runtime/transports/shared copies
runtime/transports/mpi: runtime runtime/machine runtime/transports/shared copies
runtime/transports/nccl (nccl): runtime runtime/devices/shared runtime/transports/tcp copies
runtime/transports/nccl (nvcc_nccl): 
runtime/transports/shared: runtime copies
runtime/transports/tcp: runtime runtime/machine runtime/transports/shared copies
tensors: copies

