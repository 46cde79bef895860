"""A disk as POSIX guarantees it, for tests that simulate power failures: what was not synced may be
there or not, in any order, and writes may be torn at any sector. (A rename from one folder to
another takes effect in both or in none, as on file systems with a journal.)

calls() reads the record of recorder.c; a Disk applies these calls, and write() writes what is left
of it, where keeps() decides for each thing that was not synced whether it survives.
"""
import os
import pathlib
import struct

SECTOR = 512
RECORD = struct.Struct("<c3xiqqIII4x")


class File:
    def __init__(self, kind):
        self.kind = kind
        self.synced, self.later = bytearray(), []  # later: (where, bytes), or (length, None)

    @staticmethod
    def apply(content, at, data):
        if data is None:
            content += bytes(max(0, at - len(content)))
            del content[at:]
        else:
            content += bytes(max(0, at + len(data) - len(content)))
            content[at:at + len(data)] = data

    def sync(self):
        for change in self.later:
            self.apply(self.synced, *change)
        self.later = []

    def after(self, keeps):
        """What is found when the power is back; keeps() says of each sector whether it is there."""
        content = bytearray(self.synced)
        for at, data in self.later:
            if data is None:
                if keeps():
                    self.apply(content, at, None)
                continue
            for i in range(0, len(data), SECTOR):
                if keeps():
                    self.apply(content, at + i, data[i:i + SECTOR])
        return content


class Folder:
    def __init__(self, kind):
        self.kind = kind
        self.synced, self.now, self.later = {}, {}, []

    def sync(self):
        for change in list(self.later):
            change.sync()

    def after(self, keeps, decided):
        names = dict(self.synced)
        for change in self.later:
            if decided.setdefault(change, None) is None:
                decided[change] = keeps()
            if decided[change]:
                change.apply(self, names)
        return names


class Change:
    """A name goes from one folder, another one comes to one."""

    def __init__(self, out_of=None, removes=None, into=None, adds=None, what=None):
        self.names = [(out_of, removes, None)] if out_of else []
        self.names += [(into, adds, what)] if into else []
        self.folders = {id(f): f for f, _, _ in self.names}.values()
        for where in self.folders:
            where.later.append(self)
            self.apply(where, where.now)

    def apply(self, where, names):
        for it, name, what in self.names:
            if it is where and what is None:
                names.pop(name, None)
            elif it is where:
                names[name] = what

    def sync(self):
        for where in self.folders:
            self.apply(where, where.synced)
            where.later.remove(self)


class Disk:
    """Folder `.`, and what lies in it."""

    def __init__(self, forgets=None):
        self.root, self.open, self.forgets = Folder("parent"), {}, forgets

    def load(self, path, at=None):
        """What lies there was synced long ago."""
        at = at or self.root
        there = Folder("folder") if path.is_dir() else File("file")
        at.synced[path.name] = at.now[path.name] = there
        if path.is_dir():
            for inside in path.iterdir():
                self.load(inside, there)
        else:
            there.synced = bytearray(path.read_bytes())

    def find(self, path):
        """The folder that the name is in, the name, and what has it."""
        at, parts = self.root, os.path.normpath(path).split("/")
        if parts == ["."]:
            return None, "", self.root
        for part in parts[:-1]:
            at = at.now[part]
        return at, parts[-1], at.now.get(parts[-1])

    def call(self, op, fd, at, length, path, to, data):
        if op == "S":
            self.open = {}
        elif op == "o":
            if path.startswith("/"):
                return
            where, name, what = self.find(path)
            if what is None:
                what = File("manifest" if name.startswith("manifest") else "file")
                Change(into=where, adds=name, what=what)
            self.open[fd] = what
        elif op == "m":
            where, name, _ = self.find(path)
            made = Folder("step" if name.startswith("step") else "folder")
            Change(into=where, adds=name, what=made)
        elif op == "r":
            where, name, what = self.find(path)
            there, other, _ = self.find(to)
            Change(where, name, there, other, what)
        elif op in "ud":
            where, name, _ = self.find(path)
            Change(where, name)
        elif fd in self.open:
            what = self.open[fd]
            if op == "c":
                del self.open[fd]
            elif op == "f":
                if what.kind != self.forgets:
                    what.sync()
            elif op == "w":
                what.later.append((at, data))
            elif op == "t" or (op == "a" and length > self.length(what)):
                what.later.append((length, None))

    @staticmethod
    def length(what):
        return len(what.after(lambda: True))

    def write(self, path, what, keeps, seen, decided=None):
        decided = {} if decided is None else decided
        if isinstance(what, File):
            content = what.after(keeps)
            seen.update(b"file" + content)
            path.write_bytes(content)
            return
        path.mkdir(exist_ok=True)
        for name, inside in sorted(what.after(keeps, decided).items()):
            seen.update(name.encode())
            self.write(path / name, inside, keeps, seen, decided)
        seen.update(b"end")


def calls(raw):
    at = 0
    while at < len(raw):
        op, fd, where, length, n, m, size = RECORD.unpack_from(raw, at)
        at += RECORD.size
        parts = []
        for k in (n, m, size):
            parts.append(raw[at:at + k])
            at += k
        yield op.decode(), fd, where, length, parts[0].decode(), parts[1].decode(), parts[2]
