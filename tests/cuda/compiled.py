"""What the compiler made of the kernels: compiled.py device_cuda.so

Reads the machine code for the GPU inside the module, an ELF file for each source, and checks each
kernel: it keeps everything in registers (no stack, so no spills and no array in local memory); it
states how many threads a block may have, and its registers allow that many; its static shared
memory is within the limit that needs no request. Its first instructions are a wait for the kernel
before it (griddepcontrol.wait is ACQBULK), before anything that may read or write memory. The
one-pass backward of attention has as many products of a warpgroup (HGMMA) as its source, and no
more waits: the compiler adds some if products cannot run at the same time.
"""
import struct
import sys

EM_CUDA = 190
# Attributes of the sections .nv.info: format and number, then a value; format 4 has a size.
SIZED, REGISTERS, FRAME, MAX_THREADS, MIN_STACK = 0x04, 0x2f, 0x11, 0x05, 0x12
ALL_REGISTERS, ALL_SHARED = 65536, 48 * 1024
# Of sm_90: bytes of an instruction, the lowest twelve bits of what it is; within the first few
# there is nothing but constants and the numbers of thread and block.
INSTRUCTION, OPCODE, WAIT, LET_GO, FEW = 16, 0xfff, 0x82e, 0x82d, 12
MEMORY = {0x980, 0x981, 0x985, 0x986, 0x385, 0x386, 0x38a, 0x38b, 0x38e, 0x3a8, 0x3a9, 0x98e, 0x9a8,
          0x9a9, 0xfae}
# Of the one-pass backward, by width: products with the left operand in shared memory and in
# registers, fences and waits together.
SHARED_LEFT, REGISTERS_LEFT, PRODUCT_ORDER = 0x9f0, 0xdf0, 0x9c5
ONEPASS = {"backward_onepassILi64E": (24, 16, 12), "backward_onepassILi128E": (24, 16, 7)}
FEWEST = 80  # kernels; fewer were found where the module is packed in a way not known here


def elf_files(data):
    at = data.find(b"\x7fELF", 1)
    while at >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == EM_CUDA:
            yield data[at:]
        at = data.find(b"\x7fELF", at + 1)


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


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    wrong, found, missing = [], 0, dict(ONEPASS)
    for elf in elf_files(data):
        kernels, stack = look_at(elf)
        found += len(kernels)
        wrong += [f"{name} has {size} bytes in local memory"
                  for name, size in stack.items() if size]
        for name, kernel in kernels.items():
            threads, registers = kernel.get("threads"), kernel.get("registers")
            if not threads or not registers or name not in stack:
                wrong.append(f"{name} has no __launch_bounds__, or nothing is known of it")
            elif (threads + 31) // 32 * 32 * ((registers + 7) // 8 * 8) > ALL_REGISTERS:
                wrong.append(f"{name}: {threads} threads with {registers} registers do not fit")
            if not waits_first(kernel["code"]):
                wrong.append(f"{name} does not begin with a wait for the kernel before it")
            for part in [x for x in missing if x in name]:
                if products_of(kernel["code"]) != missing.pop(part):
                    wrong.append(f"{name} has {products_of(kernel['code'])} products and waits")
            if kernel["shared"] > ALL_SHARED:
                wrong.append(f"{name} has {kernel['shared']} bytes of static shared memory")
    wrong += [f"there is no {part}" for part in missing]
    if found < FEWEST:
        wrong.append(f"only {found} kernels were found")
    print("\n".join(wrong) or "every kernel waits first and keeps to its registers")


main()
