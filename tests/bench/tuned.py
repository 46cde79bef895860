"""PyTorch tuned as its guide for CPUs recommends, for the peers of benchmarks: an allocator that
keeps its pages (the fastest one counts), huge pages, threads bound to processors."""

import ctypes.util
import os

JEMALLOC = "oversize_threshold:1,background_thread:true,metadata_thp:auto,"
JEMALLOC += "dirty_decay_ms:-1,muzzy_decay_ms:-1"
BOUND = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}  # one process: the first core is its own


def allocators():
    """{name: environment}: tcmalloc and jemalloc where they are installed; glibc, whose thresholds
    say that it neither maps what is large nor gives anything back."""
    found = {}
    for name, libraries, variable, value in (
        ("tcmalloc", ("tcmalloc", "tcmalloc_minimal"), "TCMALLOC_RELEASE_RATE", "0"),
        ("jemalloc", ("jemalloc",), "MALLOC_CONF", JEMALLOC),
    ):
        library = next(filter(None, map(ctypes.util.find_library, libraries)), None)
        if library:
            found[name] = {"LD_PRELOAD": library, variable: value}
    found["glibc"] = {
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        "MALLOC_TOP_PAD_": str(64 << 20),
    }
    return {
        name: {**os.environ, "THP_MEM_ALLOC_ENABLE": "1", **variables}
        for name, variables in found.items()
    }
