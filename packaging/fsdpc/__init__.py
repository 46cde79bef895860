"""fsdpc from Python: compile model files, train plans, read what happens as dictionaries.

    import fsdpc
    plan = fsdpc.compile("gpt.fsd", ranks=2, set={"train.batch": 64})
    print(plan.peak_bytes["cpu"], plan.units)
    for event in plan.run(save="mine/"):
        if event["event"] == "step":
            print(event["step"], event["loss"])

The work is done by the programs fsdpc and fsdp-run of this package, whose options are the keyword
arguments: --load DIR is load=DIR, --checkpoint-every 100 is checkpoint_every=100, a flag is True, and
a list repeats the option. `fsdpc help` and `fsdp-run --help` describe them.
"""
import collections
import json
import os
import platform
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings

__all__ = ["Error", "Plan", "Unit", "compile"]
Unit = collections.namedtuple("Unit", "path module parameters_below parameters")


class Error(Exception):
    """A program's refusal. code: its exit code (`fsdpc help exit-codes`). diagnostics: those of
    fsdpc as dictionaries with code, severity, message, file, line, col, notes and help; of fsdp-run
    there is only the text."""

    def __init__(self, text, code, diagnostics=()):
        super().__init__(text)
        self.code, self.diagnostics = code, list(diagnostics)


class Plan:
    """A plan file. path; info: all that `fsdpc dump --format=json` says; peak_bytes: the memory of a
    rank by device, as predicted; units: what is gathered together."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.info = json.loads(_fsdpc("dump", self.path, {"format": "json"}))
        peaks = self.info["predicted_peak_bytes"]
        self.peak_bytes = {device: peaks[device] for device in ("cpu", "cuda")}
        self.units = [Unit(*unit) for unit in self.info["units"]]

    def run(self, ranks=None, **options):
        """Trains, and yields the events of fsdp-run's --log: start, resume, step, eval, checkpoint,
        end. Raises Error if the run fails. Whoever leaves the loop ends the run after its step, as
        Ctrl-C does: it still writes what save and checkpoint name."""
        if "log" in options:
            raise TypeError("run() takes no log: it yields the lines of --log")
        command = [_path("fsdp-run"), "-q", "--log=-", *_arguments({"-n": ranks, **options}), "--",
                   self.path]
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as process:
                try:
                    for line in process.stdout:
                        yield json.loads(line)
                except BaseException:
                    process.send_signal(signal.SIGINT)
                    raise
            said.seek(0)
            text = said.read().strip()
        if process.returncode:
            raise Error(text, process.returncode)
        if text:
            warnings.warn(text)


def compile(model=None, out=None, ranks=None, mesh=None, set=None, **options):
    """The plan of a model file. out: its file; without one it goes with the Plan. mesh: as {"dp": 4,
    "tp": 2}. set: {"train.batch": 64}, a string is an expression of the language: '"a text"'."""
    folder = None if out else tempfile.TemporaryDirectory(prefix="fsdpc-")
    out = os.fspath(out or os.path.join(folder.name, "plan.bin"))
    mesh = mesh and ",".join(f"{axis}={n}" for axis, n in mesh.items())
    sets = [f"{name}={_expression(value)}" for name, value in (set or {}).items()]
    _fsdpc("compile", model, {"output": out, "ranks": ranks, "mesh": mesh,
                              "set": sets, **options})
    plan = Plan(out)
    plan._folder = folder
    return plan


def _expression(value):
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(_expression, value)) + ")"
    words = {True: "true", False: "false", None: "none"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _arguments(options):
    """Options as arguments of a program."""
    out = []
    for name, value in options.items():
        name = name if name.startswith("-") else "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                out.append(name)
            elif one is not None and one is not False:
                out += [name, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return out


def _path(program):
    """The file of a program, if this machine can run it."""
    from . import built_for
    name, version = platform.libc_ver()
    if platform.machine() != built_for.MACHINE:
        raise Error(f"this fsdpc is for processors of kind {built_for.MACHINE}, not "
                    f"{platform.machine()}", 2)
    if name != "glibc" or _numbers(version) < _numbers(built_for.GLIBC):
        raise Error(f"this fsdpc needs glibc {built_for.GLIBC} or newer; this system has "
                    f"{name or 'another C library'} {version}: build it here from source", 2)
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", program)


def _numbers(version):
    return [int(n) for n in version.split(".")]


def _line(d):
    place = f"{d['file']}:{d['line']}:{d['col']}: " if d["file"] else ""
    notes = "".join(f"\n  note: {n['message']}" for n in d["notes"])
    code = f"[{d['code']}]" if d["code"] else ""
    return (f"{place}{d['severity']}{code}: {d['message']}{notes}" +
            (f"\n  help: {d['help']}" if d["help"] else ""))


def _fsdpc(command, file, options):
    """Standard output of fsdpc; its errors are raised, its warnings and notes go through `warnings`.
    What else it says is a summary, which Plan has, or belongs to an error."""
    done = subprocess.run([_path("fsdpc"), command, *_arguments(options), "--error-format=json",
                           *(["--", os.fspath(file)] if file else [])], capture_output=True, text=True)
    said = done.stderr.splitlines()
    diagnostics = [json.loads(line) for line in said if line.startswith("{")]
    if done.returncode:
        raise Error("\n".join([_line(d) for d in diagnostics] +
                              [line for line in said if not line.startswith("{")]),
                    done.returncode, diagnostics)
    for diagnostic in diagnostics:
        warnings.warn(_line(diagnostic), stacklevel=3)
    return done.stdout


def _program():
    """What the commands of the package run: the program of that name in place of Python."""
    name = os.path.basename(sys.argv[0])
    try:
        os.execv(_path(name), [name, *sys.argv[1:]])
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.code)


def _tokenize():
    """fsdpc-tokenize, by the Python that may have `tokenizers`."""
    here = os.path.dirname(os.path.abspath(__file__))
    runpy.run_path(os.path.join(here, "bin", "fsdpc-tokenize"), run_name="__main__")
