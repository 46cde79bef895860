"""events.py FOLDER LOG: reads the event file of a folder, verifies every checksum, and prints the
tags and whether each number equals that of the log. With `tensorboard` as third word its reader
is used too."""
import glob, json, math, struct, sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283  # the check value of this checksum


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (n,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8]), "length"
        assert struct.unpack("<I", data[12 + n : 16 + n])[0] == masked(data[12 : 12 + n]), "data"
        yield data[12 : 12 + n]
        data = data[16 + n :]


def varint(data, at):
    x = shift = 0
    while True:
        byte, at = data[at], at + 1
        x |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return x, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            n, at = {1: (8, at), 5: (4, at), 2: varint(data, at) if key & 7 == 2 else None}[key & 7]
            value, at = data[at : at + n], at + n
            assert len(value) == n
        yield key >> 3, value


def scalars(record):
    event = dict(fields(record))
    for _, value in fields(event.get(5, b"")):
        v = dict(fields(value))
        (time,), (number,) = struct.unpack("<d", event[1]), struct.unpack("<f", v[2])
        yield v[1].decode(), event.get(2, 0), time, number


def single(x):
    return math.nan if x is None else struct.unpack("<f", struct.pack("<f", x))[0]


def same(a, b):
    return a == b or a != a and b != b


if __name__ == "__main__":
    (path,) = glob.glob(sys.argv[1] + "/events.out.tfevents.*")
    all_records = list(records(open(path, "rb").read()))
    print(dict(fields(all_records[0]))[3].decode())
    read = [s for record in all_records[1:] for s in scalars(record)]
    print(*sorted({tag for tag, *_ in read}))
    logged, times = {}, []
    for line in map(json.loads, open(sys.argv[2])):
        times.append(line["time"])
        group = {"step": "train", "eval": "eval"}.get(line["event"])
        for key, value in line.items():
            if group and not isinstance(value, str):
                done = line["step"] + (group == "train")
                logged[f"{group}/{key}", done] = single(value)
    same_numbers = all(same(v, logged[tag, step]) for tag, step, _, v in read)
    print("numbers of the log:", same_numbers, len(read))
    print("times of the log:", all(times[0] - 1 <= t <= times[-1] + 1 for _, _, t, _ in read))
    if len(sys.argv) > 3:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        shown = EventAccumulator(sys.argv[1])
        shown.Reload()
        points = []
        for tag in shown.Tags()["scalars"]:
            points += [(tag, p.step, p.wall_time, p.value) for p in shown.Scalars(tag)]
        print("tensorboard:", sorted(points, key=str) == sorted(read, key=str))
