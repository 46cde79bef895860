"""Commands that always end in time, and the report that comes back from another machine."""

import dataclasses
import json
import os
import signal
import subprocess
import tempfile
import time

GRACE_SECONDS = 3  # between the signals TERM and KILL
STACKS = 3  # so many hangs are looked into; a debugger takes seconds


@dataclasses.dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


class OutOfTime(Exception):
    pass


class Late(Exception):
    def __init__(self, seconds, stdout, stderr, stacks=""):
        super().__init__(f"took longer than {seconds:.0f} s")
        self.seconds, self.stdout, self.stderr, self.stacks = seconds, stdout, stderr, stacks


def end_group(process):
    """A process and its children. One that the driver holds cannot be ended: it is left behind."""
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(seconds)
            if number == signal.SIGKILL:
                return
        except subprocess.TimeoutExpired:
            pass


def text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def run_group(command, seconds, stacks_of=lambda pid: "", **more):
    """Done, or Late behind so many seconds. Output goes to files, so that neither a child that
    lives on nor a process that cannot be ended keeps us waiting, and what was said is there."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([str(x) for x in command], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, process_group=0, **more)
        stacks = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            stacks = stacks_of(process.pid)
            end_group(process)
            raise Late(seconds, text_of(out), text_of(err), stacks) from None
        except BaseException:
            end_group(process)
            raise
        return Done(process.returncode, text_of(out), text_of(err))


class Clock:
    """Shares out the seconds that a whole command may take, so that it ends by itself, with a
    table, before someone ends it. All seconds are `patience` times as long."""

    def __init__(self, seconds, patience=1, debugger=None):
        self.end = self.part_end = time.monotonic() + seconds * patience
        self.patience = patience
        self.debugger, self.looked = debugger, 0

    def left(self):
        return min(self.end, self.part_end) - time.monotonic()

    def part(self, seconds):
        """The next part may take that long, if as much is left."""
        self.part_end = time.monotonic() + seconds * self.patience

    def stacks(self, pid):
        """Where the threads of a process are that does not end."""
        self.looked += 1
        if not self.debugger or self.looked > STACKS:
            return ""
        command = [self.debugger, "-p", str(pid), "-batch", "-ex", "thread apply all bt 16"]
        try:
            done = run_group(command, 20)
        except (OSError, Late) as reason:
            return f"no stacks: {reason}"
        return done.stdout + done.stderr

    def run(self, command, limit, **more):
        """run_group for at most `limit` seconds of the time that is left."""
        seconds = min(limit * self.patience, self.left())
        if seconds <= 1:
            raise OutOfTime("no time was left")
        return run_group(command, seconds, self.stacks, **more)


class Report:
    """The table as printed, everything as JSON, and in full what programs said that failed. Few
    files of moderate size, in one folder."""

    LIMIT = 8 << 20
    DETAIL = 200_000  # of one program: the head and the tail

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
        if len(body) > self.DETAIL:
            half = self.DETAIL // 2
            body = f"{body[:half]}\n[...]\n{body[-half:]}"
        self._append("details.txt", f"==== {title}\n{body}\n\n")

    def json(self, value):
        if self.folder:
            part = self.folder / "report.part"
            part.write_text(json.dumps(value, indent=1) + "\n")
            part.rename(self.folder / "report.json")

    def keep(self, path):
        if self.folder and path.exists():
            (self.folder / path.name).write_bytes(path.read_bytes()[-self.LIMIT:])

    def _append(self, name, text):
        if not self.folder or (self.folder / name).stat().st_size > self.LIMIT:
            return
        with (self.folder / name).open("a") as f:
            f.write(text)
