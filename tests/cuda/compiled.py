"""What the compiler made of the kernels: compiled.py device_cuda.so

The module has PTX of compute_80 of each source, for GPUs that it has no machine code for, and
machine code of sm_90a. Reads all machine code, an ELF file for each source and GPU, and checks each
kernel: it keeps everything in registers (no array in local memory, and at most SPILLED bytes around
a call such as a division's); it states how many threads a block may have, and its registers allow
that many; its static shared
memory is within the limit that needs no request. From sm_90 on its first instructions are a wait
for the kernel before it (griddepcontrol.wait is ACQBULK), before anything that may read or write
memory. The one-pass backward of attention has as many products of a warpgroup (HGMMA) as its
source, and no more waits: the compiler adds some if products cannot run at the same time.
"""
import struct
import sys

# Of the files that nvcc packs together: what a file begins with, and two kinds of entries.
PACK, PTX, ELF = struct.pack("<I", 0xba55ed50), 1, 2
OLDEST, HOPPER = 80, 90
# Attributes of the sections .nv.info: format and number, then a value; format 4 has a size.
SIZED, REGISTERS, FRAME, MAX_THREADS, MIN_STACK = 0x04, 0x2f, 0x11, 0x05, 0x12
ALL_REGISTERS, ALL_SHARED = 65536, 48 * 1024
# Of sm_90: bytes of an instruction, the mask of its opcode, two opcodes; before WAIT there are
# fewer than FEW instructions, which read only constants and the numbers of thread and block.
INSTRUCTION, OPCODE, WAIT, LET_GO, FEW = 16, 0xfff, 0x82e, 0x82d, 12
MEMORY = {0x980, 0x981, 0x985, 0x986, 0x385, 0x386, 0x38a, 0x38b, 0x38e, 0x3a8, 0x3a9, 0x98e, 0x9a8,
          0x9a9, 0xfae}
# Of the one-pass backward, by width: products with the left operand in shared memory and in
# registers, fences and waits together.
SHARED_LEFT, REGISTERS_LEFT, PRODUCT_ORDER = 0x9f0, 0xdf0, 0x9c5
ONEPASS = {"backward_onepassILi64E": (24, 16, 12), "backward_onepassILi128E": (24, 16, 7)}
SPILLED = 16
FEWEST = 80  # kernels; fewer were found where the module is packed in a way not known here


def entries(data):
    """For each source: [(kind, architecture, bytes)]"""
    at = data.find(PACK)
    while at >= 0:
        head, size = struct.unpack_from("<HQ", data, at + 6)
        here, end, found = at + head, at + head + size, []
        while here < end:
            kind, _, head, size = struct.unpack_from("<HHIQ", data, here)
            architecture, = struct.unpack_from("<I", data, here + 28)
            found.append((kind, architecture, data[here + head:here + head + size]))
            here += head + size
        yield found
        at = data.find(PACK, end)


def sections(elf):
    """[(name, size, bytes)]"""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQII", elf, table + i * size) for i in range(count)]
    strings = heads[names][4]

    def name(offset):
        return elf[strings + offset:elf.index(b"\0", strings + offset)].decode()
    return [(name(h[0]), h[5], elf[h[4]:h[4] + h[5]]) for h in heads]


def attributes(info):
    at = 0
    while at + 4 <= len(info):
        form, number, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == SIZED:
            yield number, struct.unpack_from(f"<{size // 4}I", info, at)
            at += size


def symbols(parts):
    table, names = parts[".symtab"][1], parts[".strtab"][1]
    for at in range(0, len(table), 24):
        offset, = struct.unpack_from("<I", table, at)
        yield names[offset:names.index(b"\0", offset)].decode()


def opcodes(code):
    return [struct.unpack_from("<H", code, at)[0] & OPCODE
            for at in range(0, len(code), INSTRUCTION)]


def waits_first(code):
    head = code[:code.index(WAIT)] if WAIT in code else code
    return len(head) < FEW and not MEMORY.intersection(head) and LET_GO in code


def products_of(code):
    return tuple(code.count(x) for x in (SHARED_LEFT, REGISTERS_LEFT, PRODUCT_ORDER))


def look_at(elf):
    """{kernel: {attribute: value}}, {function: bytes of stack}"""
    parts = {name: (size, data) for name, size, data in sections(elf)}
    names = list(symbols(parts))
    kernels = {name[len(".nv.info."):]: {"shared": 0} for name in parts
               if name.startswith(".nv.info.")}
    for kernel, found in kernels.items():
        for number, values in attributes(parts[".nv.info." + kernel][1]):
            if number == MAX_THREADS:
                found["threads"] = values[0] * values[1] * values[2]
        found["shared"] = parts.get(".nv.shared." + kernel, (0,))[0]
        found["code"] = opcodes(parts[".text." + kernel][1])
    stack = {}
    for number, values in attributes(parts[".nv.info"][1]):
        name = names[values[0]]
        if number in (FRAME, MIN_STACK):
            stack[name] = max(stack.get(name, 0), values[1])
        if number == REGISTERS and name in kernels:
            kernels[name]["registers"] = values[1]
    return kernels, stack


def wrong_with(name, kernel, stack, architecture):
    threads, registers = kernel.get("threads"), kernel.get("registers")
    if not threads or not registers or name not in stack:
        yield f"{name} has no __launch_bounds__, or nothing is known of it"
    elif (threads + 31) // 32 * 32 * ((registers + 7) // 8 * 8) > ALL_REGISTERS:
        yield f"{name}: {threads} threads with {registers} registers do not fit"
    if architecture >= HOPPER and not waits_first(kernel["code"]):
        yield f"{name} does not begin with a wait for the kernel before it"
    for part, products in ONEPASS.items():
        if architecture == HOPPER and part in name and products_of(kernel["code"]) != products:
            yield f"{name} has {products_of(kernel['code'])} products and waits"
    if kernel["shared"] > ALL_SHARED:
        yield f"{name} has {kernel['shared']} bytes of static shared memory"


def main():
    with open(sys.argv[1], "rb") as f:
        packs = list(entries(f.read()))
    wrong, found = [], {}
    for pack in packs:
        if (PTX, OLDEST) not in [entry[:2] for entry in pack]:
            wrong.append("a source has no PTX for older GPUs")
        for kind, architecture, elf in pack:
            if kind != ELF:
                continue
            kernels, stack = look_at(elf)
            found.setdefault(architecture, []).extend(kernels)
            wrong += [f"sm_{architecture}: {name} has {size} bytes in local memory"
                      for name, size in stack.items() if size > SPILLED]
            wrong += [f"sm_{architecture}: {text}" for name, kernel in kernels.items()
                      for text in wrong_with(name, kernel, stack, architecture)]
    wrong += [f"there is no {part}" for part in ONEPASS
              if not any(part in name for name in found.get(HOPPER, []))]
    wrong += [f"sm_{x}: only {len(names)} kernels were found" for x, names in found.items()
              if len(names) < FEWEST]
    print("\n".join(wrong) or "every kernel waits first and keeps to its registers")


main()
