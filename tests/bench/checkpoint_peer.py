"""checkpoint_peer.py FOLDER BYTES DISK: torch.distributed.checkpoint of 2 ranks that hold BYTES in
450 sharded tensors: save and, if the copy that it makes fits into memory, async_save; for
tests/bench/checkpoint."""
import os
import pathlib
import resource
import shutil
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

FOLDER, BYTES, DISK = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
TENSORS, ROUNDS = 450, 3


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def available():
    """Bytes that processes may still take without the system having to swap."""
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable"))


def rank_main(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("cpu:gloo", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    rows = BYTES // TENSORS // 4 // 768 // 2 * 2
    state = {f"t{k}": distribute_tensor(torch.randn(rows, 768), mesh, [Shard(0)])
             for k in range(TENSORS)}
    dist.barrier()
    free = torch.tensor([available()])
    dist.broadcast(free, 0)
    before, sync, stalls, written = resident(), [], [], []
    for k in range(ROUNDS):
        dist.barrier()
        begun = time.monotonic()
        dcp.save(state, checkpoint_id=str(FOLDER / f"sync{k}"))
        sync.append(time.monotonic() - begun)
        if free.item() < BYTES:
            if rank == 0:
                shutil.rmtree(FOLDER / f"sync{k}")
            continue
        dist.barrier()
        begun = time.monotonic()
        future = dcp.async_save(state, checkpoint_id=str(FOLDER / f"async{k}"))
        stalls.append(time.monotonic() - begun)
        future.result()
        written.append(time.monotonic() - begun)
        dist.barrier()
        if rank == 0:
            for kind in ("sync", "async"):
                shutil.rmtree(FOLDER / f"{kind}{k}")
    more = torch.tensor([resident() - before])
    dist.all_reduce(more)
    if rank == 0:
        size = rows * 768 * 4 * TENSORS
        for title, times in (("PyTorch, save", sync), ("PyTorch, async", written)):
            if not times:
                print(f"{title:16} needs a copy of the state, {BYTES / 1e9:.1f} GB; "
                      f"{free.item() / 1e9:.1f} GB are free")
                continue
            rate = size / statistics.median(times)
            stall = statistics.median(sync if times is sync else stalls)
            print(f"{title:16} {rate / 1e9:6.2f} GB/s ({rate / DISK:.2f} of the disk); stall "
                  f"{stall * 1e3:.0f} ms; {more.item() / size:.2f}x of the state more resident")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(rank_main, (29700 + os.getpid() % 1000,), nprocs=2)
