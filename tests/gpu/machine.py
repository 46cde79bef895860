"""What run and bench find on a machine: the GPU, the pack, tools, and the programs built here; time
that a command may take; the folder for what it found out.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
PACK = BUILD / "gpu-pack"
BUILD_SECONDS = 200
TARGETS = ("fsdp-run", "device_cpu.so", "device_cuda.so", "gpu/compare", "gpu/watch.so",
           "gpu/attention")
NCCL_TARGET = "transport_nccl.so"  # where NCCL is


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
    python: str
    torch: bool
    nccl: bool  # transport_nccl.so is beside fsdp-run
    gpus: int


def leave(who, message):
    print(f"{who}: {message}", file=sys.stderr)
    sys.exit(2)


class OutOfTime(Exception):
    pass


class Clock:
    """Shares out the seconds that a whole command may take, so that it ends by itself, with a
    table, before someone ends it."""

    def __init__(self, seconds):
        self.end = self.part_end = time.monotonic() + seconds

    def left(self):
        return min(self.end, self.part_end) - time.monotonic()

    def part(self, seconds):
        """The next part may take that long, if as much is left."""
        self.part_end = time.monotonic() + seconds

    def run(self, command, limit, **more):
        """subprocess.run with output as text, for at most `limit` seconds of what is left."""
        seconds = min(limit, self.left())
        if seconds <= 1:
            raise OutOfTime("no time was left")
        return subprocess.run([str(x) for x in command], capture_output=True, text=True,
                              errors="replace", timeout=seconds, **more)


class Report:
    """What comes back from another machine: the table as printed, everything as JSON, and in full
    what programs said that failed. Few files of moderate size, in one folder."""

    LIMIT = 8 << 20

    def __init__(self, folder):
        self.folder = folder
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("table.txt", "details.txt"):
                (folder / name).write_text("")

    def line(self, text):
        print(text, flush=True)
        self._append("table.txt", text + "\n")

    def detail(self, title, *texts):
        body = "\n".join(str(t) for t in texts if t)
        self._append("details.txt", f"==== {title}\n{body[-200000:]}\n\n")

    def json(self, value):
        if self.folder:
            (self.folder / "report.json").write_text(json.dumps(value, indent=1) + "\n")

    def keep(self, path):
        if self.folder and path.exists():
            (self.folder / path.name).write_bytes(path.read_bytes()[-self.LIMIT:])

    def _append(self, name, text):
        if not self.folder or (self.folder / name).stat().st_size > self.LIMIT:
            return
        with (self.folder / name).open("a") as f:
            f.write(text)


def require_pack(who):
    if not (PACK / "cases.json").exists():
        leave(who, "build/gpu-pack is not here; make it on the build machine: tests/gpu/pack")


def gpu_name():
    """None where no driver answers."""
    tool = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = done.stdout.strip().splitlines()
    return names[0] if done.returncode == 0 and names else None


def count_gpus():
    tool = shutil.which("nvidia-smi") or "/usr/local/nvidia/bin/nvidia-smi"
    done = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=60)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return len(visible.split(",") if visible else done.stdout.strip().splitlines())


def require_gpu(who):
    if not gpu_name():
        leave(who, "no GPU answers on this machine (nvidia-smi); nothing was checked")


def find_tool(name):
    """On the PATH, or where CUDA's toolkit puts it."""
    return shutil.which(name) or next(
        (str(p) for p in sorted(pathlib.Path("/usr/local").glob(f"cuda*/bin/{name}"))), None
    )


def library_folders():
    """CUDA's libraries, from the toolkit or from Python's wheels."""
    import site

    folders = sorted(pathlib.Path("/usr/local").glob("cuda*/lib*"))
    for packages in [*site.getsitepackages(), site.getusersitepackages()]:
        folders += sorted(pathlib.Path(packages).glob("nvidia/*/lib"))
    return [str(f) for f in folders if list(f.glob("lib*.so*"))]


def build():
    """Why the programs cannot be built here, or None when they were. Their folder is build/."""
    for tool in ("gcc", "ninja"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    log = BUILD / "gpu-build.log"
    env = dict(os.environ)
    for name, folder in (("CPATH", "include"), ("LIBRARY_PATH", "lib")):
        env[name] = os.pathsep.join(filter(None, [str(PACK / folder), env.get(name)]))
    start = time.monotonic()
    with log.open("w") as out:
        setup = subprocess.run(["bash", "setup.sh", "--local-ninja"], cwd=ROOT, env=env, stdout=out,
                               stderr=out, timeout=BUILD_SECONDS)
        if setup.returncode:
            return f"setup.sh --local-ninja failed, see {log.relative_to(ROOT)}"
        if "runtime/cuda/cuda.ninja" not in (ROOT / ".local.ninja").read_text():
            return "setup.sh found no CUDA toolkit"
        targets = list(TARGETS)
        if "runtime/nccl/nccl.ninja" in (ROOT / ".local.ninja").read_text():
            targets.append(NCCL_TARGET)
        try:
            done = subprocess.run(["ninja", *(f"build/{t}" for t in targets)], cwd=ROOT,
                                  env=env, stdout=out, stderr=out, timeout=BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            return f"building took longer than {BUILD_SECONDS} s"
    if done.returncode:
        print("\n".join(log.read_text().splitlines()[-30:]))
        return f"the build failed, see {log.relative_to(ROOT)}"
    print(f"built in {time.monotonic() - start:.0f} s", flush=True)
    return None


def programs(packed=False):
    why = "--packed" if packed else build()
    folder = PACK / "bin" if why else BUILD
    env = {**os.environ}
    if why:
        paths = [*library_folders(), env.get("LD_LIBRARY_PATH")]
        env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    place = [folder / (pathlib.Path(t).name if why else t) for t in TARGETS]
    for path in place:
        if not path.exists():
            leave("tests/gpu", f"{path} is missing ({why})")
    python = shutil.which("python3") or sys.executable
    torch = subprocess.run([python, "-c", "import torch; assert torch.cuda.is_available()"],
                           capture_output=True).returncode == 0
    return Programs(*place, env,
                    f"from the pack ({why})" if why else "built here", gpu_name() or "no GPU",
                    find_tool("compute-sanitizer"), python, torch,
                    (folder / NCCL_TARGET).exists(), count_gpus())
