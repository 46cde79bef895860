"""Runs the pack's plans on the GPU; returns what they logged or why they failed."""

import concurrent.futures
import json
import math
import pathlib
import re
import signal

import report as reports

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "parity" / "cases"
ROW_AT_ONCE = 4  # small plans that run at the same time; most of their time is the start
RUN_SECONDS = 60
HANGS = 2  # a row that saw so many waits for no more
DIAGNOSED = 2  # failing runs that are tried again
# What a failing run is tried with: the first that helps says where to look.
SWITCHES = (
    {"CUDA_LAUNCH_BLOCKING": "1", "FSDP_CUDA_GRAPH": "0"},
    {"FSDP_CUDA_GRAPH": "0"},
    {"FSDP_CUDA_ATTENTION": "own"},
)


def largest(differences):
    """The largest of some numbers; a NaN counts as infinite (max would pass over it)."""
    return max((math.inf if math.isnan(x) else x for x in differences), default=0)


class Failed(Exception):
    pass


class NotTried(Failed):
    pass


class Skipped(Exception):
    pass


def said_last(done):
    """The message of a program that failed: its first line of error, or else the last it said."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("error:", "emulated GPU:"))]
    text = (errors or lines[-1:] or ["it said nothing"])[0]
    if done.returncode < 0:
        text = f"{signal.Signals(-done.returncode).name}; {text}"
    return text[-400:]


class Plans:
    def __init__(self, programs, pack, clock, report):
        self.programs, self.pack, self.clock, self.report = programs, pack, clock, report
        self.work = programs.work
        packed = json.loads((pack / "cases.json").read_text())
        self.cases, self.sizes = packed["plans"], packed["sizes"]
        self.measured = packed["measure"]
        self.kernel_words, self.shapes = packed["kernels"], packed["attention"]
        self.runs, self.arenas = {}, []
        self.hangs, self.diagnosed = 0, 0

    def row_begins(self):
        self.hangs = 0

    def call(self, title, command, limit, **more):
        """A program; what it said is kept in full where it fails."""
        try:
            done = self.clock.run(command, limit, **more)
        except reports.Late as late:
            self.hangs += 1
            self.report.detail(f"{title}: {late}", self.shown(command, more), late.stdout,
                               late.stderr, late.stacks)
            last = (late.stderr.strip().splitlines() or [""])[-1]
            raise Failed(f"{title}: {late} {last[-200:]}") from None
        if done.returncode:
            self.report.detail(f"{title}: exit code {done.returncode}", self.shown(command, more),
                               done.stdout, done.stderr)
        return done

    def shown(self, command, more):
        env = more.get("env") or {}
        ours = [f"{k}={v}" for k, v in sorted(env.items())
                if k.startswith(("FSDP_", "NCCL_")) or k in ("LD_PRELOAD", "CUDA_LAUNCH_BLOCKING")]
        return " ".join([f"cd {more.get('cwd', '.')};", *ours, *map(str, command)])

    def ahead(self, runs):
        """Runs several at the same time; whoever asks for one of them next has it, or fails."""
        with concurrent.futures.ThreadPoolExecutor(ROW_AT_ONCE) as pool:
            for f in [pool.submit(self.train, name, **more) for name, more in runs]:
                f.exception()

    def folder_of(self, name):
        """Where a plan finds its data."""
        fixture = self.cases[name].get("fixture")
        return FIXTURES / fixture if fixture else self.pack

    def train(self, name, *, env=None, args=(), key=None):
        """Events of the log of a run on the GPU; each plan runs once. What a row had no time for,
        another row may run."""
        key = key or name
        if key not in self.runs:
            try:
                self.runs[key] = self.train_now(name, key, env or {}, args)
            except NotTried:
                raise
            except Failed as reason:
                self.runs[key] = reason
        if isinstance(self.runs[key], Exception):
            raise self.runs[key]
        return self.runs[key]

    def train_now(self, name, key, env, args):
        if self.hangs >= HANGS:
            raise NotTried(f"{key}: not tried, {self.hangs} runs of this row did not end")
        log = self.work / f"{key}.jsonl"
        command = [self.programs.run, "--device", "cuda", "--transport", "local", "--quiet",
                   "--log", log, *args, self.pack / self.cases[name]["plan"]]
        more = {"cwd": self.folder_of(name), "env": {**self.programs.env, **env}}
        done = self.call(key, command, RUN_SECONDS, **more)
        if done.returncode:
            self.hangs += done.returncode == 4
            self.diagnose(key, command, more)
            raise Failed(f"{key}: exit code {done.returncode}: {said_last(done)}")
        events = [json.loads(line) for line in log.read_text().splitlines()]
        start = events[0]
        self.arenas.append((key, start["predicted_peak_bytes"], start["arena_bytes"]))
        return events

    def diagnose(self, key, command, more):
        """A run that failed, again with other settings: which one matters?"""
        self.diagnosed += 1
        if self.diagnosed > DIAGNOSED:
            return
        tries = [((), switch) for switch in SWITCHES]
        if self.programs.sanitizer and self.diagnosed == 1:
            tries.append(((self.programs.sanitizer, "--print-limit", "10"), SWITCHES[1]))
        for wrapper, switch in tries:
            words = " ".join([*(f"{k}={v}" for k, v in switch.items()),
                              *(["under compute-sanitizer"] if wrapper else [])])
            try:
                done = self.call(f"{key}, again with {words}", [*wrapper, *command], 40,
                                 **{**more, "env": {**more["env"], **switch}})
                found = f"exit code {done.returncode}"
                if done.returncode:
                    found += f": {said_last(done)}"
            except (Failed, reports.OutOfTime) as reason:
                found = str(reason)
            self.report.line(f"           {key} with {words}: {found[:160]}")

    def steps(self, name, **more):
        return [e for e in self.train(name, **more) if e["event"] == "step"]

    def losses(self, name, **more):
        return [e["loss"] for e in self.steps(name, **more)]

    def differ(self, title, got, want):
        """Both sequences in full, for who looks at it elsewhere."""
        rows = [f"{i:4}  {a!r:24} {b!r:24}" for i, (a, b) in enumerate(zip(got, want))]
        self.report.detail(f"{title}: {len(got)} and {len(want)} steps: found, expected", *rows)

    def compare(self, title, limit, *words, wrapper=()):
        """[(share of the allowed error, op)] and how many cases; kernels against the cpu's."""
        command = [*wrapper, self.programs.compare, *words, self.programs.cpu, self.programs.cuda]
        done = self.call(title, command, limit, env=self.programs.env)
        lines = done.stdout.splitlines()
        wrong = [line.strip() for line in lines if "differs:" in line]
        reports_of_tools = re.findall(r"^=+ ((?:Invalid|Error|Race|Uninit|Program hit).*)",
                                      done.stdout + done.stderr, re.M)
        if done.returncode or not lines:
            first = (wrong + reports_of_tools or [said_last(done)])[0]
            raise Failed(f"{title}: exit code {done.returncode}, {len(wrong)} complaints: {first}")
        shares = [(float(x.split()[3]), x.split()[0]) for x in lines if "allowed error" in x]
        return shares, sum(int(x.split()[1]) for x in lines if "allowed error" in x)
