"""The peers of tests/bench/gpt2: a GPT trained by PyTorch, a line of JSON on stdout.

    peer.py MODE        MODE: eager, compile (BENCH_THREADS threads, 2);
                        bf16 (all of it), autocast: eager with bf16;
                        fsdp2, fsdp1 (SHARD_GRAD_OP), ddp, hybrid (fsdp2 on a mesh of 2 x 1),
                        dtensor (tensor parallel with sequence parallel): two ranks of one thread,
                        gloo

BENCH_MODEL: gpt2 (124M, the default) or gpt-text, the model of models/gpt-text.fsd. Shapes:
BENCH_SHAPE (4x64) samples and tokens per step over all ranks, f32, fused AdamW, no clipping, the
same random tokens in every step. Prints the median and the shortest step in milliseconds over the
steps after the second, and the peak resident memory of all ranks together. tuned.py says with
which environment to start it.
"""

import json
import os
import resource
import statistics
import sys
import time

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn

SIZES = {"gpt2": (12, 768, 12, 50257, 1024), "gpt-text": (5, 128, 4, 256, 128)}
L, D, H, V, POSITIONS = SIZES[os.environ.get("BENCH_MODEL", "gpt2")]
B, T = map(int, os.environ.get("BENCH_SHAPE", "4x64").split("x"))
STEPS = int(os.environ.get("BENCH_STEPS", "8"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x):
        qkv = self.qkv(self.ln_1(x))
        b, t, _ = qkv.shape
        q, k, v = qkv.view(b, t, 3, -1, D // H).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, -1))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(POSITIONS, D)
        self.h = nn.ModuleList(Block() for _ in range(L))
        self.ln_f = nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)
        self.head.weight = self.wte.weight

    def positions(self, count):
        return self.wpe.weight[:count]

    def forward(self, ids, targets):
        x = self.wte(ids) + self.positions(ids.shape[1])
        for block in self.h:
            x = block(x)
        return F.cross_entropy(self.head(self.ln_f(x)).flatten(0, 1), targets.flatten())


def train(model, rows, autocast=False):
    ids = torch.randint(0, V, (rows, T + 1), generator=torch.Generator().manual_seed(1))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append((time.perf_counter() - start) * 1e3)
    return times[2:], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fully_sharded(model, *sizes):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", sizes, mesh_dim_names=("rep", "dp")[-len(sizes) :])
    for block in model.h:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def sharded_in_backward(model):
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    return FullyShardedDataParallel(
        model,
        sharding_strategy=ShardingStrategy.SHARD_GRAD_OP,
        auto_wrap_policy=ModuleWrapPolicy({Block}),
        use_orig_params=True,
        device_id=torch.device("cpu"),
    )


def shared_out(model, world):
    """As torchtitan does it: rows between products are shared out, too, and the loss's logits. A
    rank's part of qkv are its own heads, as if its rows were dealt out so."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor import parallel as tp

    columns = tp.ColwiseParallel(input_layouts=Shard(1))
    rows = tp.RowwiseParallel(output_layouts=Shard(1))
    norm = tp.SequenceParallel()
    plan = {
        "wte": tp.RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "wpe": tp.ColwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)),
        "h.*.ln_1": norm,
        "h.*.qkv": columns,
        "h.*.out": rows,
        "h.*.ln_2": norm,
        "h.*.up": columns,
        "h.*.down": rows,
        "ln_f": norm,
        "head": tp.ColwiseParallel(
            input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
        ),
    }
    model = tp.parallelize_module(model, init_device_mesh("cpu", (world,)), plan)
    model.head.weight = model.wte.weight
    model.positions = lambda count: model.wpe(torch.arange(count))
    return model


WRAPPERS = {
    "fsdp2": lambda model, world: fully_sharded(model, world),
    "hybrid": lambda model, world: fully_sharded(model, world, 1),
    "fsdp1": lambda model, world: sharded_in_backward(model),
    "ddp": lambda model, world: nn.parallel.DistributedDataParallel(model),
    "dtensor": shared_out,
}


def rank_main(rank, mode, world, port, results):
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world)
    )
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.distributed.init_process_group("gloo")
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[rank % len(processors)]})  # this thread, not gloo's
    torch.manual_seed(0)
    model = WRAPPERS[mode](GPT(), world)
    if mode == "dtensor":
        with torch.distributed.tensor.parallel.loss_parallel():
            results.put(train(model, B))
    else:
        results.put(train(model, B // world))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main():
    mode = sys.argv[1]
    if mode in WRAPPERS:
        results = mp.get_context("spawn").SimpleQueue()
        context = mp.spawn(
            rank_main, (mode, 2, 29600 + os.getpid() % 1000, results), nprocs=2, join=False
        )
        found = [results.get() for _ in range(2)]
        context.join()
        times, memory = [max(t) for t in zip(*(t for t, _ in found))], sum(m for _, m in found)
    else:
        torch.set_flush_denormal(True)
        torch.set_num_threads(int(os.environ.get("BENCH_THREADS", "2")))
        torch.manual_seed(0)
        model = GPT()
        model = model.bfloat16() if mode == "bf16" else model
        model = torch.compile(model) if mode == "compile" else model
        times, memory = train(model, B, autocast=mode == "autocast")
    result = {"step_ms": statistics.median(times), "best_ms": min(times), "peak_bytes": memory}
    print(json.dumps({**result, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
