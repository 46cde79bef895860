"""Compares the calls that the cuda device made (record.cu) with the edges of the plan.

    order.py FSDPC PLAN TRACE RANKS

A second reader: streams, edges and issue order come from `fsdpc dump --raw`, not from the runtime.
On each rank a program call must consist of: the point of the compute stream that the other streams
wait for; then, for each instruction that does work, in issue order, a wait of its stream for the
event of each of its edges, in this very call, work on its stream and no other, and the recording of
its own event if another instruction waits for it; at the end the compute stream waits for all
others. A collective over several ranks is a mark that all others wait for when it begins, when its
sums are done (all_reduce) and when it ends, with copies or sums in between, and every wait must
match the mark of the same moment of the same collective of the same call.

With one rank, the first call of a program is direct, the second is captured, and all later ones are
a single graph. Prints how many calls agree, or the first that does not (exit 1).
"""
import re
import subprocess
import sys

STREAMS = {"": 0, "gather": 1, "reduce": 2, "fetch": 3, "evict": 4}
COLLECTIVES = {"unshard": 2, "reduce_scatter": 2, "all_reduce": 3}  # moments
# only say where a value lives, or may have nothing to do (pack: no padding)
NO_WORK = {"state", "view", "reshape", "reshard", "free", "set_state", "set_param", "set_grad",
           "param", "master"}
MAYBE_NO_WORK = {"pack"}


class Differs(Exception):
    pass


class Instruction:
    def __init__(self, line):
        head, rest = re.match(r"\s+#(\d+) (.*)$", line).groups()
        self.number = int(head)
        stream = re.match(r"\[(\w+)\] ", rest)
        self.stream = STREAMS[stream[1] if stream else ""]
        waits = re.search(r"wait\(([^)]*)\)", rest.split("%")[0])
        self.edges = [int(x) for x in re.findall(r"#(\d+)", waits[1])] if waits else []
        rest = re.sub(r"^(\[\w+\] )?(wait\([^)]*\) )?", "", rest)
        self.op = re.match(r"(?:%.*? = )?(\w+)", rest)[1]


def read_plan(fsdpc, plan):
    text = subprocess.run([fsdpc, "dump", "--raw", plan], check=True, capture_output=True,
                          text=True).stdout
    programs, names = [], []
    for line in text.splitlines():
        if line.startswith("program "):
            names.append(line.split()[1])
            programs.append([])
        elif programs and re.match(r"\s+#\d+ ", line):
            programs[-1].append(Instruction(line))
    return names, programs


class Calls:
    """The calls on one rank's streams, read from the front."""

    def __init__(self, rows):
        self.rows, self.at = rows, 0

    def next(self):
        return self.rows[self.at] if self.at < len(self.rows) else (None, None, None, None)

    def expect(self, kind, stream, what, argument=None):
        place, got, on, value = self.next()
        if (got, on) != (kind, stream) or (argument is not None and value != argument):
            raise Differs(f"{what}: found {got} {value} on stream {on}")
        self.at += 1
        return place, value

    def work(self, stream):
        """Skips work on a stream; how much there was."""
        start = self.at
        while self.next()[1] in ("L", "C") and self.next()[2] == stream:
            self.at += 1
        return self.at - start


class Reader:
    def __init__(self, ranks, marks):
        self.ranks, self.marks = ranks, marks  # marks: place -> (rank, call, instruction, moment)
        self.followed = []

    def collective(self, calls, rank, call, instruction):
        what = f"rank {rank}, call {call}: #{instruction.number} {instruction.op}"
        for moment in range(COLLECTIVES[instruction.op]):
            if self.ranks > 1:
                place, _ = calls.expect("R", instruction.stream, f"{what}: its mark {moment}")
                self.marks[place] = (rank, call, instruction.number, moment)
                for _ in range(self.ranks - 1):
                    place, event = calls.expect("W", instruction.stream,
                                                f"{what}: waits for the others at {moment}")
                    self.followed.append((place, event, rank, call, instruction.number, moment))
            calls.work(instruction.stream)

    def program(self, calls, rank, call, instructions):
        awaited = {e for i in instructions for e in i.edges}
        event, last = {}, 0
        what = f"rank {rank}, call {call}"
        _, fork = calls.expect("R", 0, f"{what}: its beginning")
        for stream in range(1, len(STREAMS)):
            calls.expect("W", stream, f"{what}: stream {stream} waits for its beginning", fork)
        for i in instructions:
            said = f"{what}: #{i.number} {i.op}"
            collective = i.op in COLLECTIVES
            if i.edges or collective or i.stream != last:
                calls.work(last)
            for edge in i.edges:
                if edge not in event:
                    raise Differs(f"{said}: #{edge} has no event in this call")
                calls.expect("W", i.stream, f"{said}: waits for #{edge}", event[edge])
            if collective:
                self.collective(calls, rank, call, i)
            elif i.op not in NO_WORK:
                if calls.next()[1:3] in (("L", i.stream), ("C", i.stream)):
                    calls.at += 1
                elif i.op not in MAYBE_NO_WORK:
                    raise Differs(f"{said}: no work on its stream, found {calls.next()[1:]}")
            last = i.stream
            if i.number in awaited:
                calls.work(last)
                event[i.number] = calls.expect("R", i.stream, f"{said}: its event")[1]
        calls.work(last)
        for stream in range(1, len(STREAMS)):
            _, join = calls.expect("R", stream, f"{what}: stream {stream} ends")
            calls.expect("W", 0, f"{what}: the end of stream {stream}", join)


def begins_program(calls):
    """A fork: a record on the compute stream that the next stream waits for."""
    if calls.next()[1:3] != ("R", 0):
        return False
    following = calls.rows[calls.at + 1] if calls.at + 1 < len(calls.rows) else None
    return following is not None and following[1] in ("W", "R") and following[2] != 0


def read_rank(reader, rank, rows, programs):
    """Program calls in the order that they were made: indices of programs, -1 for a graph."""
    calls, found = Calls(rows), []
    while calls.at < len(rows):
        kind = calls.next()[1]
        captured = kind == "B"
        if kind == "G":
            found.append(-1)
        if not captured and not begins_program(calls):
            calls.at += 1
            continue
        calls.at += captured
        start, reasons = calls.at, []
        for index, instructions in enumerate(programs):
            calls.at = start
            try:
                reader.program(calls, rank, len(found), instructions)
                found.append(index)
                break
            except Differs as reason:
                reasons.append((calls.at, str(reason)))
        else:
            raise Differs(max(reasons)[1])
        if captured:
            calls.expect("E", 0, f"rank {rank}: a capture ends")
    return found


def check_marks(reader, rows):
    """Each wait of a collective found the mark of its own moment, from another rank each."""
    latest, wanted = {}, {f[0]: f[1:] for f in reader.followed}
    met = {}
    for place, kind, _, event in rows:
        if kind == "R":
            latest[event] = place
        if kind == "W" and place in wanted:
            _, rank, call, number, moment = wanted[place]
            mark = reader.marks.get(latest.get(event))
            if mark is None or mark[1:] != (call, number, moment) or mark[0] == rank:
                raise Differs(
                    f"rank {rank}, call {call}: #{number}: a wait at {moment} finds {mark}")
            met.setdefault((rank, call, number, moment), set()).add(mark[0])
    for (rank, call, number, moment), others in met.items():
        if len(others) != reader.ranks - 1:
            raise Differs(f"rank {rank}, call {call}: #{number}: waits only for {others}")


def main():
    fsdpc, plan, trace, ranks = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    names, programs = read_plan(fsdpc, plan)
    rows = []
    with open(trace, encoding="utf-8") as f:
        for place, line in enumerate(f):
            kind, stream, *value = line.split()
            rows.append((place, kind, int(stream), value[0] if value else None))
    reader = Reader(ranks, {})
    try:
        each = len(STREAMS) + 1  # and the stream on which checkpoints are saved
        if max(r[2] for r in rows) + 1 != each * ranks:
            raise Differs(f"not {each} streams per rank")
        counts = []
        for rank in range(ranks):
            mine = [(p, k, s % each, v) for p, k, s, v in rows if s // each == rank and k != "S"]
            counts.append(read_rank(reader, rank, mine, programs))
        check_marks(reader, rows)
        if any(c != counts[0] for c in counts):
            raise Differs("ranks made other calls")
        if ranks > 1 and -1 in counts[0]:
            raise Differs("a graph was launched for one of several ranks")
    except Differs as reason:
        print(f"differs: {reason}")
        sys.exit(1)
    for index, name in enumerate(names):
        print(f"program {name}: {counts[0].count(index)} calls as planned")
    if ranks == 1:
        print(f"{counts[0].count(-1)} graphs")


main()
