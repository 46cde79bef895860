"""Runs a plan on the recorded cuda device and lets order.py compare its calls with the plan.

    ordered.py FSDPC FSDP_RUN BUILD FOLDER MODEL RANKS [DROP]

With DROP: twelve runs, each of which omits one wait, number DROP, DROP + 11, ...; order.py must
notice every time."""
import os
import shutil
import subprocess
import sys

fsdpc, fsdp_run, build, folder, model, ranks = sys.argv[1:7]
drop = int(sys.argv[7]) if len(sys.argv) > 7 else None
here = os.path.dirname(os.path.abspath(__file__))
plan, trace = os.path.join(folder, "plan.bin"), os.path.join(folder, "trace")
run = os.path.join(folder, "fsdp-run")
shutil.copy(fsdp_run, run)
shutil.copy(os.path.join(build, "device_cpu.so"), folder)
shutil.copy(os.path.join(build, "tests/modules/device_cuda_recorded.so"),
            os.path.join(folder, "device_cuda.so"))
subprocess.run([fsdpc, "compile", "-q", model, "-o", plan, "-n", ranks], check=True)


def compared(**settings):
    """order.py's exit code and text"""
    # what is timed before the first step is not part of the plan
    env = dict(os.environ, FSDP_RECORD=trace, FSDP_CUDA_TUNE="0", **settings)
    done = subprocess.run([run, "--threads", "1", "--device", "cuda", "--quiet", plan],
                          env=env, check=False,
                          capture_output=True, text=True)
    if done.returncode and not settings:
        sys.exit(done.stderr)
    reader = [sys.executable, os.path.join(here, "order.py"), fsdpc, plan, trace, ranks]
    done = subprocess.run(reader, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


if drop is None:
    code, text = compared()
    print(text, end="")
    sys.exit(code)
noticed = [compared(FSDP_RECORD_DROP=str(drop + 11 * i)) for i in range(12)]
print(f"{sum(code == 1 and text.startswith('differs') for code, text in noticed)} of 12 noticed")
