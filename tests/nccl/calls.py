"""Compares the calls of fsdp-run to CUDA and NCCL (trace.cu) with the plan.

    calls.py FSDPC PLAN TRACES RANKS [mutate]

A second reader: streams, edges, communicators, buffers and order come from `fsdpc dump --raw`,
not from the runtime. On each rank
- there is one communicator for all ranks and one, split off it without shared resources, for each
  (mesh axis, purpose) of the plan's collectives, with the ranks of the mesh's group as members; the
  arena is registered with each of these before its first collective;
- a program call consists of the compute stream's point that the others wait for, which is counted;
  for each instruction, in issue order, a wait for each of its edges, in this very call, work on its
  stream and no other, its event; and last, the compute stream waits for all others;
- a collective is one group of NCCL's, on its communicator and stream, with a call for each buffer:
  kind, count, type and places in the arena are the plan's; the count of finished ones follows;
- the first call of a program is direct, the second captured, all later ones launch that graph;
- outside programs only the communicator of all ranks is used, and only to gather;
- at the end graphs are destroyed first, then registrations, then communicators: finalized, then
  destroyed.
All ranks make the same calls on each communicator, in the same order. Prints how many calls agree,
or the first that does not (exit 1).

mutate: removes each collective of the last rank's trace, and each call that waits, records a graph,
creates, registers or ends something; and swaps each two neighbouring collectives of one
communicator that differ. Each time the comparison must fail.
"""
import os
import re
import subprocess
import sys

STREAMS = {"": 0, "gather": 1, "reduce": 2, "fetch": 3, "evict": 4}
COLLECTIVES = {"unshard": "all_gather", "reduce_scatter": "reduce_scatter",
               "all_reduce": "all_reduce"}
BYTES = {"f32": 4, "f64": 8, "i64": 8, "bf16": 2}
DTYPES = {"u8": 1, "i32": 2, "i64": 4, "f32": 7, "f64": 8, "bf16": 9}
# only say where a value lives, or may have nothing to do (pack: no padding)
NO_WORK = {"state", "view", "reshape", "reshard", "free", "set_state", "set_param", "set_grad",
           "param", "master"}
MAYBE_NO_WORK = {"pack"}
GRAPH = "graph"


class Differs(Exception):
    pass


# ---- the plan

class Value:
    def __init__(self, dtype, dims, address, slot):
        self.dtype, self.address, self.slot, self.elements = dtype, address, slot, 1
        for dim in dims.split(","):
            self.elements *= int(dim) if dim.strip() else 1


class Instruction:
    def __init__(self, line, values):
        head, rest = re.match(r"\s+#(\d+) (.*)$", line).groups()
        self.number = int(head)
        stream = re.match(r"\[(\w+)\] ", rest)
        self.stream = STREAMS[stream[1] if stream else ""]
        waits = re.search(r"wait\(([^)]*)\)", rest.split("%")[0])
        self.edges = [int(x) for x in re.findall(r"#(\d+)", waits[1])] if waits else []
        rest = re.sub(r"^(\[\w+\] )?(wait\([^)]*\) )?", "", rest)
        self.op = re.match(r"(?:%.*? = )?(\w+)", rest)[1]
        outputs = rest.split(" = ")[0] if rest.startswith("%") else ""
        self.out = []
        for name, dtype, dims, address, slot in re.findall(
                r"%(\d+): (\w+)(?:\[([^\]]*)\])?(?: @(\d+))?( slot )?", outputs):
            self.out.append(name)
            if address:
                values[name] = Value(dtype, dims, int(address), bool(slot))
        self.into = re.findall(r"%(\d+)", re.search(r"\w+\(([^)]*)\)", rest[len(outputs):])[1])\
            if "(" in rest[len(outputs):].split("{")[0] else []
        said = dict(re.findall(r"(\w+) = ([\w-]+)", rest.split("!")[0].rpartition("{")[2]))
        self.comm = (int(said.get("mesh", -1)), said.get("comm"))

    def buffers(self, values, members, number):
        """(count, dtype, place of the input, place of the output) of each, on member `number`."""
        found = []
        for one, other in zip(self.into, self.out):
            if one not in values or other not in values:
                break
            one, other = values[one], values[other]
            count = other.elements if self.op == "reduce_scatter" else one.elements
            large, small = (one, other) if self.op == "reduce_scatter" else (other, one)
            factor = 1 if self.op == "all_reduce" else members
            if one.dtype != other.dtype or large.elements != factor * small.elements:
                raise Differs(f"#{self.number}: the plan's own shapes do not fit")
            slot = number * one.elements * BYTES[one.dtype] if one.slot else 0
            found.append((count, DTYPES[one.dtype], one.address + slot, other.address))
        return found


class Plan:
    def __init__(self, fsdpc, path, ranks):
        text = subprocess.run([fsdpc, "dump", "--raw", path], check=True, capture_output=True,
                              text=True).stdout
        self.ranks, self.names, self.programs, self.values = ranks, [], [], {}
        self.arena = int(re.search(r"^arena .* bytes (\d+)", text, re.M)[1])
        mesh = re.search(r"^mesh (.*)$", text, re.M)
        self.axes = [int(n) for n in re.findall(r"= (\d+)", mesh[1])] if mesh else []
        for line in text.splitlines():
            if line.startswith("program "):
                self.names.append(line.split()[1])
                self.programs.append([])
            elif self.programs and re.match(r"\s+#\d+ ", line):
                self.programs[-1].append(Instruction(line, self.values))
        self.purposes = {i.comm for p in self.programs for i in p if i.op in COLLECTIVES}

    def group(self, axis, rank):
        """Ranks along an axis that a rank is in: row-major, the outermost axis first."""
        if axis < 0:
            return tuple(range(self.ranks))
        stride = 1
        for size in self.axes[axis + 1:]:
            stride *= size
        first = rank - rank // stride % self.axes[axis] * stride
        return tuple(first + k * stride for k in range(self.axes[axis]))


# ---- the calls

def read_trace(path):
    """Lines as (kind, stream, rest); what is not on a stream has stream None."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            kind, *rest = line.split()
            if kind in "SLCRWBEG":
                rows.append((kind, int(rest[0]), *rest[1:]))
            elif kind == "K":
                comm, name, stream, count, dtype, _, op, _, root, _, into, _, out, _, group = rest
                rows.append(("K", int(stream), comm, name, int(count), int(dtype), int(op),
                             int(root), int(into, 16), int(out, 16), int(group)))
            else:
                rows.append((kind, None, *rest))
    return rows


class Rank:
    """One rank's calls; at: the next one."""

    def __init__(self, plan, rows):
        self.plan, self.rows, self.at = plan, rows, 0
        self.comms, self.members, self.arena = {}, {}, None
        self.made, self.used = [], {}
        made = [r for r in rows if r[0] == "I"]
        if not made:
            raise Differs("no communicator was made")
        self.rank = int(made[0][6])
        self.what = f"rank {self.rank}"

    def next(self):
        return self.rows[self.at] if self.at < len(self.rows) else (None, None)

    def expect(self, kind, stream, what, argument=None):
        row = self.next()
        if row[:2] != (kind, stream) or (argument is not None and row[2] != argument):
            raise Differs(f"{what}: found {row}")
        self.at += 1
        return row

    def work(self, stream):
        start = self.at
        while self.next()[0] in ("L", "C") and self.next()[1] == stream:
            self.at += 1
        return self.at - start

    # -- making and ending

    def begin(self):
        """The communicators up to the first program call, and the arena."""
        first = None
        for row in self.rows:
            if row[0] == "I":
                members = tuple(int(m) for m in row[8].split(","))
                if row[12] != "0":
                    raise Differs(f"{self.what}: communicator {row[2]} blocks")
                if first is None:
                    first = row[2]
                    if members != tuple(range(self.plan.ranks)) or row[4] != "-":
                        raise Differs(f"{self.what}: the first communicator is not of all ranks")
                elif row[4] != first or row[14] != "0":
                    raise Differs(f"{self.what}: {row[2]} is of {row[4]}, shared {row[14]}")
                self.members[row[2]] = members
            if row[0] == "Q":
                place, size = int(row[4], 16), int(row[5])
                if self.arena not in (None, place) or size < self.plan.arena:
                    raise Differs(f"{self.what}: registered {row}")
                self.arena = place
        if self.arena is None:
            raise Differs(f"{self.what}: the arena is not registered")
        self.world = first
        registered, busy = set(), set()
        for row in self.rows:
            if row[0] == "Q":
                if row[2] in busy:
                    raise Differs(f"{self.what}: {row[2]} is registered behind a collective")
                registered.add(row[2])
            if row[0] == "K":
                busy.add(row[2])
        wanted = {c for c in self.members if c != first}
        if registered != wanted or len(wanted) != len(self.plan.purposes):
            raise Differs(f"{self.what}: registered {sorted(registered)} of {sorted(wanted)} for "
                          f"{len(self.plan.purposes)} purposes")

    def end(self):
        """Graphs, registrations, communicators, in this order."""
        graphs, registered, state = set(), {}, {}
        for row in self.rows:
            if row[0] == "G":
                graphs.add(row[2])
            if row[0] == "D":
                graphs.discard(row[3])
            if row[0] == "Q":
                registered[row[2]] = registered.get(row[2], 0) + 1
            if row[0] in "UZ" and graphs:
                raise Differs(f"{self.what}: {row} while a graph is there")
            if row[0] == "U":
                registered[row[2]] -= 1
            if row[0] != "Z":
                if state and row[0] in "KLCBEG":
                    raise Differs(f"{self.what}: {row} behind the end of a communicator")
                continue
            if registered.get(row[2]):
                raise Differs(f"{self.what}: {row} while memory is registered")
            order = {None: "finalize", "finalize": "destroy"}
            if order.get(state.get(row[2])) != row[3]:
                raise Differs(f"{self.what}: {row} behind {state.get(row[2])}")
            state[row[2]] = row[3]
        if set(state) != set(self.members) or set(state.values()) != {"destroy"}:
            raise Differs(f"{self.what}: not every communicator was destroyed: {state}")

    # -- programs

    def collective(self, instruction, what):
        comm = self.comms.get(instruction.comm)
        members = self.plan.group(instruction.comm[0], self.rank)
        buffers = instruction.buffers(self.plan.values, len(members),
                                      members.index(self.rank))
        group = None
        for count, dtype, into, out in buffers:
            row = self.expect("K", instruction.stream, f"{what}: a collective")
            if comm is None:
                comm = self.comms[instruction.comm] = row[2]
                if list(self.comms.values()).count(comm) > 1 or comm == self.world:
                    raise Differs(f"{what}: communicator {comm} has another purpose")
                if self.members.get(comm) != members:
                    raise Differs(f"{what}: members {self.members.get(comm)} not {members}")
            wanted = (comm, COLLECTIVES[instruction.op], count, dtype, 0, 0,
                      self.arena + into, self.arena + out)
            if row[2:10] != wanted or group not in (None, row[10]):
                raise Differs(f"{what}: asked for {row[2:]}, the plan has {wanted}")
            group = row[10]
        if self.next()[0] == "K" and self.next()[10] == group:
            raise Differs(f"{what}: a call too many in its group")
        self.expect("L", instruction.stream, f"{what}: counting it", "count_up")

    def program(self, call, instructions):
        awaited = {e for i in instructions for e in i.edges}
        event, last = {}, 0
        what = f"{self.what}, call {call}"
        fork = self.expect("R", 0, f"{what}: its beginning")[2]
        for stream in range(1, len(STREAMS)):
            self.expect("W", stream, f"{what}: stream {stream} waits for its beginning", fork)
        self.expect("L", 0, f"{what}: counting it", "count_up")
        for i in instructions:
            said = f"{what}: #{i.number} {i.op}"
            collective = i.op in COLLECTIVES
            if i.edges or collective or i.stream != last:
                self.work(last)
            for edge in i.edges:
                if edge not in event:
                    raise Differs(f"{said}: #{edge} has no event in this call")
                self.expect("W", i.stream, f"{said}: waits for #{edge}", event[edge])
            if collective:
                self.collective(i, said)
            elif i.op not in NO_WORK:
                if self.next()[0] in ("L", "C") and self.next()[1] == i.stream:
                    self.at += 1
                elif i.op not in MAYBE_NO_WORK:
                    raise Differs(f"{said}: no work on its stream, found {self.next()}")
            last = i.stream
            if i.number in awaited:
                self.work(last)
                event[i.number] = self.expect("R", i.stream, f"{said}: its event")[2]
        self.work(last)
        for stream in range(1, len(STREAMS)):
            join = self.expect("R", stream, f"{what}: stream {stream} ends")[2]
            self.expect("W", 0, f"{what}: the end of stream {stream}", join)

    def begins_program(self):
        if self.next()[:2] != ("R", 0):
            return False
        after = self.rows[self.at + 1] if self.at + 1 < len(self.rows) else (None, 0)
        return after[0] in ("W", "R") and after[1] != 0

    def any_program(self, call):
        """The program whose instructions these calls are."""
        start, reasons = self.at, []
        for index, instructions in enumerate(self.plan.programs):
            self.at, before = start, dict(self.comms)
            try:
                self.program(call, instructions)
                return index
            except Differs as reason:
                reasons.append((self.at, str(reason)))
                self.comms = before
        raise Differs(max(reasons)[1])

    def between(self, row):
        """A call outside of programs."""
        if row[0] == "K" and (row[2] != self.world or row[3] != "all_gather"):
            raise Differs(f"{self.what}: outside of a program: {row}")

    def calls(self):
        """Program calls in their order: (index, direct, captured or graph)."""
        found, graph_of, outside = [], {}, []
        while self.at < len(self.rows):
            row = self.next()
            if row[0] == "G":
                if row[2] not in graph_of:
                    raise Differs(f"{self.what}: a graph that no capture made")
                found.append((graph_of[row[2]], GRAPH))
                self.at += 1
                continue
            captured = row[0] == "B"
            if not captured and not self.begins_program():
                self.between(row)
                if row[0] == "K":
                    outside.append(row[2:6] + row[7:8])
                self.at += 1
                continue
            self.at += captured
            index = self.any_program(len(found))
            if captured:
                self.expect("E", 0, f"{self.what}: a capture ends")
                row = self.expect("G", 0, f"{self.what}: the captured graph")
                graph_of[row[2]] = index
            found.append((index, "captured" if captured else "direct"))
        for index in range(len(self.plan.programs)):
            how = [h for i, h in found if i == index]
            if how != ["direct", "captured", *[GRAPH] * len(how)][:len(how)]:
                raise Differs(f"{self.what}: program {self.plan.names[index]} was {how}")
        return found, outside


def compare(plan, traces):
    """What all ranks did, or Differs."""
    told, comms = None, {}
    ranks = sorted((Rank(plan, rows) for rows in traces), key=lambda r: r.rank)
    if [r.rank for r in ranks] != list(range(plan.ranks)):
        raise Differs(f"traces of ranks {[r.rank for r in ranks]}")
    for rank in ranks:
        rank.begin()
        mine = rank.calls()
        try:
            rank.end()
        except Differs as reason:
            raise Differs(f"when the run ends: {reason}") from None
        if told is not None and mine != told:
            raise Differs(f"{rank.what} made other calls than rank 0")
        told = mine
        for comm in rank.members:
            asked = [r[3:8] for r in rank.rows if r[0] == "K" and r[2] == comm]
            if comms.setdefault(comm, asked) != asked:
                raise Differs(f"{rank.what} asked communicator {comm} for something else")
    return told


# ---- does it notice?

def without(rows, at):
    return rows[:at] + rows[at + 1:]


def mutate(plan, traces):
    """Each collective left out, each two neighbours of a communicator swapped; what was missed."""
    *others, rows = traces
    at = [i for i, row in enumerate(rows) if row[0] == "K"]
    faults = {"collectives taken out": [], "other calls taken out": [], "neighbours swapped": []}
    for i, row in enumerate(rows):
        if row[0] == "K":
            faults["collectives taken out"].append((i, without(rows, i)))
        elif row[0] in "WBEGIQUZD":
            faults["other calls taken out"].append((i, without(rows, i)))
    latest = {}
    for i in at:
        before = latest.get(rows[i][2])
        if before is not None and rows[before][2:10] != rows[i][2:10]:
            changed = list(rows)
            changed[before], changed[i] = rows[i], rows[before]
            faults["neighbours swapped"].append((i, changed))
        latest[rows[i][2]] = i
    for name, cases in faults.items():
        missed = []
        for i, changed in cases:
            try:
                compare(plan, [*others, changed])
                missed.append(i)
            except Differs:
                pass
        print(f"{name}: {len(cases) - len(missed)} of {len(cases)} noticed")
        for i in missed:
            print(f"not noticed: {rows[i]}")


def main():
    fsdpc, path, folder, ranks = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    plan = Plan(fsdpc, path, ranks)
    traces = [read_trace(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    try:
        found, outside = compare(plan, traces)
    except Differs as reason:
        print(f"differs: {reason}")
        sys.exit(1)
    for index, name in enumerate(plan.names):
        how = [h for i, h in found if i == index]
        print(f"program {name}: {len(how) - how.count(GRAPH)} calls as planned, "
              f"{how.count(GRAPH)} graphs")
    if outside:
        print(f"{len(outside)} all_gathers outside of programs")
    if sys.argv[5:] == ["mutate"]:
        mutate(plan, traces)


main()
