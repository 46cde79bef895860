"""fault.py PLAN: removes the edges of the first instruction of the plan that has some, and corrects
fingerprint and checksum, so that only the checker can object."""
import ctypes
import struct
import sys

HEADER, CHECKSUM, SECTION, INSTRUCTION, EDGES_AT = 48, 24, 24, 28, 24

path = sys.argv[1]
plan = bytearray(open(path, "rb").read())
_, element, offset, count = struct.unpack_from("<IIQQ", plan, HEADER + INSTRUCTION * SECTION)
for at in range(offset, offset + count * element, element):
    if struct.unpack_from("<I", plan, at + EDGES_AT)[0]:
        struct.pack_into("<I", plan, at + EDGES_AT, 0)
        break
else:
    sys.exit("no instruction has edges")
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
def digest(text):
    return xxhash.XXH3_64bits(bytes(text), ctypes.c_size_t(len(text)))
struct.pack_into("<QQ", plan, CHECKSUM, 0, digest(plan[HEADER:]))
struct.pack_into("<Q", plan, CHECKSUM, digest(plan))
open(path, "wb").write(plan)
