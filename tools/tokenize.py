#!/usr/bin/env python3
"""Texts to token files: tokenize.py tokenizer.json TEXT... -o PREFIX [--tokens N]

Writes PREFIX_0000.bin, PREFIX_0001.bin, .. of at most N tokens (default 100,000,000), as
`data { train = tokens("PREFIX_*.bin") }` reads them: a header of 256 int32 (magic 20240520, version
1, number of tokens), then the tokens as uint16. Each text begins with <|endoftext|> where the
tokenizer has that token. Needs the Python package `tokenizers`.
"""
import argparse
import array
import struct
import sys

MAGIC, VERSION, HEADER, LARGEST = 20240520, 1, 256, 2**16 - 1
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
    mark = tokenizer.token_to_id("<|endoftext|>")
    for path in paths:
        if mark is not None:
            yield [mark]
        with open(path, encoding="utf-8", newline="") as f:
            for piece in pieces(f):
                yield tokenizer.encode(piece, add_special_tokens=False).ids


def write(path, tokens):
    with open(path, "wb") as f:
        f.write(struct.pack(f"<{HEADER}i", MAGIC, VERSION, len(tokens), *[0] * (HEADER - 3)))
        if sys.byteorder == "big":
            tokens.byteswap()
        tokens.tofile(f)
    print(f"{path}: {len(tokens):,} tokens")


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
    tokenizer = Tokenizer.from_file(options.tokenizer)
    if tokenizer.get_vocab_size() > LARGEST + 1:
        sys.exit(f"error: {options.tokenizer} has {tokenizer.get_vocab_size()} tokens; token files "
                 f"hold ids up to {LARGEST}")
    if options.tokens < 1:
        sys.exit("error: --tokens is at least 1")
    files, held = 0, array.array("H")
    for ids in tokens_of(tokenizer, options.texts):
        held.extend(ids)
        while len(held) >= options.tokens:
            write(f"{options.output}_{files:04}.bin", held[:options.tokens])
            held = held[options.tokens:]
            files += 1
    if held:
        write(f"{options.output}_{files:04}.bin", held)


if __name__ == "__main__":
    main()
