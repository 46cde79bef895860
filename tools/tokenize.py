#!/usr/bin/env python3
"""Texts to token files: fsdpc-tokenize tokenizer.json TEXT... -o PREFIX [--tokens N]

Writes PREFIX_0000.bin, PREFIX_0001.bin, .. of at most N tokens (default 100,000,000), as
`data { train = tokens("PREFIX_*.bin") }` reads them: a header of 256 int32 (magic 20240520, version
1, number of tokens), then the tokens as uint16; where the tokenizer has more than 65,536 tokens,
version 2 and uint32. Each text begins with <|endoftext|>, or the name that the tokenizer has for it.
Needs the Python package `tokenizers`. In a source tree this is tools/tokenize.py.
"""
import argparse
import array
import os
import struct
import sys

MAGIC, HEADER = 20240520, 256
VERSION = {"H": 1, "I": 2}  # by the type of a token
MARKS = ["<|endoftext|>", "<|begin_of_text|>", "<s>"]  # GPT-2's, Llama 3's, Llama 2's
PIECE = 1 << 20


def pieces(lines):
    """Texts of about a megabyte, cut where no tokenizer joins: a newline between two words."""
    piece, size = [], 0
    for line in lines:
        if size > PIECE and not line[0].isspace() and not piece[-1][-2:-1].isspace():
            yield "".join(piece)
            piece, size = [], 0
        piece.append(line)
        size += len(line)
    if piece:
        yield "".join(piece)


def tokens_of(tokenizer, paths):
    known = [tokenizer.token_to_id(m) for m in MARKS if tokenizer.token_to_id(m) is not None]
    mark = known[0] if known else None
    for path in paths:
        if mark is not None:
            yield [mark]
        with open(path, encoding="utf-8", newline="") as f:
            for piece in pieces(f):
                yield tokenizer.encode(piece, add_special_tokens=False).ids


def write(path, tokens):
    with open(path + ".part", "wb") as f:
        head = [MAGIC, VERSION[tokens.typecode], len(tokens)]
        f.write(struct.pack(f"<{HEADER}i", *head, *[0] * (HEADER - len(head))))
        if sys.byteorder == "big":
            tokens.byteswap()
        tokens.tofile(f)
    os.replace(path + ".part", path)
    print(f"{path}: {len(tokens):,} tokens")


def write_all(tokenizer, options):
    width = "H" if tokenizer.get_vocab_size() <= 1 << 16 else "I"
    files, held = 0, array.array(width)
    for ids in tokens_of(tokenizer, options.texts):
        held.extend(ids)
        while len(held) >= options.tokens:
            write(f"{options.output}_{files:04}.bin", held[:options.tokens])
            held = held[options.tokens:]
            files += 1
    if held:
        write(f"{options.output}_{files:04}.bin", held)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer")
    parser.add_argument("texts", nargs="+", metavar="TEXT")
    parser.add_argument("-o", "--output", required=True, metavar="PREFIX")
    parser.add_argument("--tokens", type=int, default=100_000_000, metavar="N")
    options = parser.parse_args()
    try:
        from tokenizers import Tokenizer
    except ImportError:
        sys.exit("error: the Python package `tokenizers` is not here\nhelp: pip install tokenizers")
    if options.tokens < 1:
        sys.exit("error: --tokens is at least 1")
    try:
        tokenizer = Tokenizer.from_file(options.tokenizer)
    except Exception as e:  # the package has no class of its own
        sys.exit(f"error: {options.tokenizer}: {e}")
    try:
        write_all(tokenizer, options)
    except OSError as e:
        sys.exit(f"error: {e.filename}: {e.strerror}")
    except UnicodeDecodeError as e:
        sys.exit(f"error: a text is not UTF-8: {e}")


if __name__ == "__main__":
    main()
