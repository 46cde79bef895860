"""What run and bench find on a machine: the GPU, the pack, tools, and the programs built here.

    --programs FOLDER   takes fsdp-run, its modules and the checking programs from there: `build`,
                        after an earlier call (what is missing in `build` is built), or a folder of
                        tests/gpu/rehearse.py, with an emulated GPU
    --pack FOLDER       another pack than build/gpu-pack
    --patience FACTOR   multiplies all limits: for an emulated GPU on a busy machine
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

from report import Clock, Late, run_group

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
PACK = BUILD / "gpu-pack"
BUILD_SECONDS = 200
TARGETS = ("fsdp-run", "device_cpu.so", "device_cuda.so", "kernel_compare", "gpu/watch.so",
           "gpu/attention")
NCCL_TARGET = "transport_nccl.so"  # where NCCL is
# A rank that makes no progress for that long is named by fsdp-run itself, before a row's time is up
WATCHDOG_SECONDS = "25"
# Without -Werror: another compiler's new warnings are counted, and keep nobody from the GPU.
NINJA = """include build.ninja
cflags = $cflags -Wno-error
kernel_flags = $kernel_flags -Wno-error
"""


@dataclasses.dataclass
class Programs:
    run: pathlib.Path
    cpu: pathlib.Path
    cuda: pathlib.Path
    compare: pathlib.Path
    watch: pathlib.Path
    attention: pathlib.Path
    env: dict
    origin: str
    gpu: str
    sanitizer: str | None
    peer: list  # the command in front of peer.py's words; empty where PyTorch has no GPU
    nccl: bool  # transport_nccl.so is beside fsdp-run
    gpus: int
    work: pathlib.Path


def leave(who, message):
    print(f"{who}: {message}", file=sys.stderr)
    sys.exit(2)


def options(who, doc):
    """A parser with what run and bench share."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FOLDER", default=PACK)
    parser.add_argument("--limit", type=float, default=460, metavar="SECONDS")
    parser.add_argument("--patience", type=float, default=1, metavar="FACTOR")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER")
    return parser


def require(who, chosen):
    """A pack and a GPU."""
    chosen.pack = chosen.pack.resolve()
    if not (chosen.pack / "cases.json").exists():
        place = os.path.relpath(chosen.pack, ROOT)
        leave(who, f"{place} is not here; make it on the build machine: tests/gpu/pack")
    if not gpu_names():
        leave(who, "no GPU answers on this machine (nvidia-smi); nothing was checked")


# ---- the machine

def ask(*command, seconds=60):
    """What a program prints, or an empty text."""
    try:
        done = run_group(command, seconds)
    except (OSError, Late):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def nvidia_smi(*words):
    return ask(shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi", *words)


def gpu_names():
    """A line a GPU: its name, the driver's version; empty where no driver answers."""
    said = nvidia_smi("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    return said.splitlines()


def count_gpus():
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return len(visible.split(",") if visible else gpu_names())


def find_tool(name):
    """On the PATH, or where CUDA's toolkit puts it."""
    places = [*pathlib.Path("/usr/local").glob(f"cuda*/bin/{name}"),
              *pathlib.Path("/opt/nvidia").glob(f"*/*/{name}")]
    return shutil.which(name) or next((str(p) for p in sorted(places)), None)


def library_folders():
    """CUDA's libraries, from the toolkit or from Python's wheels."""
    import site

    folders = sorted(pathlib.Path("/usr/local").glob("cuda*/lib*"))
    for packages in [*site.getsitepackages(), site.getusersitepackages()]:
        folders += sorted(pathlib.Path(packages).glob("nvidia/*/lib"))
    return [str(f) for f in folders if list(f.glob("lib*.so*"))]


def python():
    return shutil.which("python3") or sys.executable


def torch_version():
    """Of a PyTorch that sees the GPU; else empty. Seconds where its files are cold."""
    return ask(python(), "-c", "import torch; assert torch.cuda.is_available(); "
               "print(torch.__version__, 'CUDA', torch.version.cuda, 'cuDNN', "
               "torch.backends.cudnn.version(), 'NCCL', torch.cuda.nccl.version())", seconds=120)


# Prints LIBRARY's version: argv is the library and the function that tells it, which either returns
# the number (cuBLASLt) or stores it where it is told to (NCCL).
ASK_VERSION = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
number = ctypes.c_int(0)
said = getattr(library, sys.argv[2])(ctypes.byref(number))
print(number.value or said)
"""
VERSION_OF = {"libcublasLt": "cublasLtGetVersion", "libnccl": "ncclGetVersion"}


def versions(found):
    """Of the libraries that are loaded, and of the others of their name that this machine has: a
    newer one beside them may be the faster one."""
    said = []
    for name, function in VERSION_OF.items():
        loaded = [os.path.realpath(p) for n, p in found.items() if n.startswith(name + ".")]
        others = [os.path.realpath(p) for folder in library_folders()
                  for p in pathlib.Path(folder).glob(f"{name}.so*")]
        for place in dict.fromkeys(loaded + others):
            number = ask(python(), "-c", ASK_VERSION, place, function) or "?"
            used = "loaded" if place in loaded else f"not loaded: {place}"
            said.append(f"{name} {number} ({used})")
    return "versions: " + ("; ".join(said) or "neither cuBLASLt nor NCCL tells its own")


def describe(programs, torch, report):
    """The first lines of a table: what was measured where."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    report.line(f"{programs.gpu}; {os.cpu_count()} cores, {memory:.0f} GiB, Linux "
                f"{platform.release()}; programs {programs.origin}")
    nvcc = re.search(r"release [0-9.]+, V?([0-9.]+)", ask(find_tool("nvcc") or "nvcc", "--version"))
    gcc = ask("gcc", "-dumpfullversion")
    report.line(f"nvcc {nvcc[1] if nvcc else 'none'}; gcc {gcc or 'none'}; Python "
                f"{platform.python_version()}; PyTorch {torch or 'with CUDA: none'}; "
                f"compute-sanitizer {'is here' if programs.sanitizer else 'none'}")
    modules = [p for p in (programs.cuda, programs.run.parent / NCCL_TARGET) if p.exists()]
    found = {}
    for module in modules:
        try:
            said = run_group(["ldd", module], 30, env=programs.env).stdout
        except (OSError, Late):
            continue
        found.update(re.findall(r"(lib(?:cudart|cublasLt|nccl)\S*) => (.*?)(?: \(0x\w+\))?$", said,
                                re.M))
    for name, place in found.items():
        report.line(f"{name}: {os.path.realpath(place) if place.startswith('/') else place}")
    report.line(versions(found))
    report.detail("nvidia-smi", nvidia_smi())
    for module in modules:
        report.detail(f"ldd {module.name}", ask("ldd", str(module)))
    report.detail("libraries of the wheels and the toolkit", "\n".join(library_folders()))


# ---- the programs

def build(pack):
    """(Why the programs cannot be built here or None, what to say of it); they lie in build/."""
    for tool in ("gcc", "ninja"):
        if not shutil.which(tool):
            return f"there is no {tool}", ""
    BUILD.mkdir(exist_ok=True)
    log = BUILD / "gpu-build.log"
    env = dict(os.environ)
    for name, folder in (("CPATH", "include"), ("LIBRARY_PATH", "lib")):
        env[name] = os.pathsep.join(filter(None, [str(pack / folder), env.get(name)]))
    start = time.monotonic()
    text = ""
    try:
        done = run_group(["bash", "setup.sh", "--local-ninja"], 60, cwd=ROOT, env=env)
        text = done.stdout + done.stderr
        local = (ROOT / ".local.ninja").read_text() if not done.returncode else ""
        text += local
        if done.returncode:
            return "setup.sh --local-ninja failed, see gpu-build.log", ""
        if "runtime/devices/cuda/cuda.ninja" not in local:
            return "setup.sh found no CUDA toolkit", ""
        nccl = "runtime/transports/nccl/nccl.ninja" in local
        targets = [*TARGETS, *([NCCL_TARGET] if nccl else [])]
        file = BUILD / "gpu.ninja"
        file.write_text(NINJA)
        done = run_group(["ninja", "-f", file, *(f"build/{t}" for t in targets)],
                         BUILD_SECONDS, cwd=ROOT, env=env)
        text += done.stdout + done.stderr
        if done.returncode:
            print("\n".join(text.splitlines()[-30:]))
            return "the build failed, see gpu-build.log", ""
    except Late as late:
        text += late.stdout + late.stderr
        return f"building took longer than {late.seconds:.0f} s", ""
    finally:
        log.write_text(text)
    warnings = len(re.findall(r"\bwarning\b.*:", text))
    said = f" in {time.monotonic() - start:.0f} s"
    return None, said + (f", {warnings} warnings (gpu-build.log)" if warnings else "")


def place_of_programs(chosen):
    """Their folder, how each target is called in it, and where they come from."""
    names = {t: pathlib.Path(t).name for t in (*TARGETS, NCCL_TARGET)}
    folder = chosen.programs.resolve() if chosen.programs else BUILD
    if chosen.programs and (folder != BUILD or all((BUILD / t).exists() for t in TARGETS)):
        names = {t: t if (folder / t).exists() else name for t, name in names.items()}
        return folder, names, f"of {folder.name}"
    why, said = ("--packed", "") if chosen.packed else build(chosen.pack)
    if why:
        return chosen.pack / "bin", names, f"from the pack ({why})"
    return BUILD, {t: t for t in names}, f"built here{said}"


def programs(who, chosen, report):
    """The programs, and the head of the table. PyTorch is looked for while they are built."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(torch_version)
        folder, names, origin = place_of_programs(chosen)
        torch = asked.result()
    place = [folder / names[t] for t in TARGETS]
    for path in place:
        if not path.exists():
            leave(who, f"{path} is missing (programs {origin})")
    env = {**os.environ, "FSDP_TIMEOUT": os.environ.get("FSDP_TIMEOUT", WATCHDOG_SECONDS)}
    if origin.startswith("from the pack"):
        paths = [*library_folders(), env.get("LD_LIBRARY_PATH")]
        env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    peer = os.environ.get("FSDP_GPU_PEER", "").split()
    if not peer and torch:
        peer = [python(), pathlib.Path(__file__).resolve().parent / "peer.py"]
    names_of_gpus = gpu_names()
    gpu = names_of_gpus[0] + (f" and {len(names_of_gpus) - 1} more" if names_of_gpus[1:] else "")
    work = (folder if chosen.programs else BUILD) / who
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    found = Programs(*place, env, origin, gpu, find_tool("compute-sanitizer"), peer,
                     (folder / names[NCCL_TARGET]).exists(), count_gpus(), work)
    describe(found, torch, report)
    report.keep(BUILD / "gpu-build.log")
    return found


def clock(chosen):
    return Clock(chosen.limit, chosen.patience, find_tool("gdb") or find_tool("cuda-gdb"))
