"""PyTorch's side of tests/gpu/run and tests/gpu/bench: GPT-2 trained on one GPU, JSON on stdout.

    peer.py time LAYERSxWIDTHxHEADS VOCABULARY LENGTH MODE BATCH STEPS
    peer.py losses KERNEL LAYERSxWIDTHxHEADS VOCABULARY WEIGHTS TOKENS BATCH LENGTH STEPS
    peer.py products FILE                                  [{m, n, k, a_turned, b_turned, bf16}]
    peer.py attention BATCH HEADS LENGTH DEPTH             causal, bf16, forward and backward

`time` is what a careful user writes: scaled_dot_product_attention, fused AdamW, no wait of the host
inside a step, gradients set to none, and torch.compile over the whole model. MODE is eager or
compile, and words behind it, joined by -:

    (none)      bf16 weights, copies of f32 ones over which AdamW goes with gradients in f32: the
                numbers of our bf16(master = f32, reduce = f32)
    autocast    f32 weights under torch.autocast: the same memory, as many scripts do it
    pure        all in bf16, AdamW too: less exact, fewer bytes
    padded      a vocabulary padded to a multiple of 128 (50304), as many do for speed; more work,
                and another model
    cudnn       attention through cuDNN, not through the kernel that PyTorch prefers
    max         torch.compile's max-autotune without graphs: minutes of compiling

Random tokens stay on the GPU; the time is that of whole steps by the host's clock between two
waits, the median over blocks of five.

`products` and `attention` time single calls between two events, the median of 20, with 32 MiB
written in front of each as when our products are tuned.

`losses` computes as our bf16(master = f32, reduce = f32) does: a bf16 copy of f32 weights, bf16
activations, the loss in f32 from bf16 logits, AdamW in f32 over the f32 weights. WEIGHTS are a
.safetensors of transformers' names (fsdp-run --save); KERNEL picks that of attention: math,
efficient, flash or cudnn; f64 computes with the same bf16 weights, but in f64, so that what is left
of the difference is the rounding of activations and gradients.

FSDP_PEER_DEVICE=cpu runs all of it without a GPU, for a test of this script.
"""

import contextlib
import json
import os
import statistics
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE = os.environ.get("FSDP_PEER_DEVICE", "cuda")
ON_GPU = DEVICE == "cuda"
POSITIONS = 1024
WORDS = ("autocast", "pure", "padded", "cudnn", "max")
OPTIMIZER = {"lr": 6e-4, "betas": (0.9, 0.95), "weight_decay": 0.1, "fused": True}
BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
if not ON_GPU:  # which has only the others
    BACKENDS["efficient"] = BACKENDS["cudnn"] = SDPBackend.MATH


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def sizes(text):
    return tuple(int(x) for x in text.split("x"))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = self.c_attn(x).view(b, t, 3, self.heads, width // self.heads).unbind(2)
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(b, t, width))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp = Attention(width, heads), MLP(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2(nn.Module):
    """Submodules have transformers' names."""

    def __init__(self, layers, width, heads, vocabulary, positions=POSITIONS):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        if logits.dtype != torch.float64:
            logits = logits.float()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def optimizer_of(model, pure):
    """A function that makes a step of AdamW from the gradients, and drops these."""
    parameters = list(model.parameters())
    if pure:
        optimizer = torch.optim.AdamW(parameters, **OPTIMIZER)

        def update():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return update
    masters = [p.detach().float() for p in parameters]
    for m in masters:
        m.grad = torch.zeros_like(m)
    gradients = [m.grad for m in masters]
    optimizer = torch.optim.AdamW(masters, **OPTIMIZER)

    @torch.no_grad()
    def update():
        torch._foreach_copy_(gradients, [p.grad for p in parameters])
        for p in parameters:
            p.grad = None
        optimizer.step()
        torch._foreach_copy_(parameters, masters)

    return update


def time_steps(size, vocabulary, length, mode, batch, steps):
    first, *words = mode.split("-")
    if first not in ("eager", "compile") or set(words) - set(WORDS):
        sys.exit(f"peer.py: no mode {mode}")
    if "padded" in words:
        vocabulary = -(-vocabulary // 128) * 128
    autocast = "autocast" in words
    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = GPT2(*size, vocabulary)
        ids = torch.randint(0, vocabulary, (batch, length + 1))
    if not autocast:
        model = model.to(torch.bfloat16)
    update = optimizer_of(model, "pure" in words or autocast)
    loss_of = model
    if first == "compile":
        how = "max-autotune-no-cudagraphs" if "max" in words else "default"
        loss_of = torch.compile(model, mode=how)
    inputs, targets = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()

    def step():
        with contextlib.ExitStack() as stack:
            if autocast:
                stack.enter_context(torch.autocast(DEVICE, torch.bfloat16))
            if "cudnn" in words:
                stack.enter_context(sdpa_kernel(BACKENDS["cudnn"]))
            loss = loss_of(inputs, targets)
        loss.backward()
        update()
        return loss

    start = time.perf_counter()
    for _ in range(5):
        step()
    wait()
    warm_up = time.perf_counter() - start
    blocks = []
    for _ in range(max(1, steps // 5)):
        start = time.perf_counter()
        for _ in range(5):
            loss = step()
        wait()
        blocks.append((time.perf_counter() - start) / 5 * 1e3)
    if not torch.isfinite(loss).item():
        sys.exit("peer.py: the loss is not finite")
    return {
        "step_ms": statistics.median(blocks),
        "blocks_ms": blocks,
        "warm_up_s": warm_up,
        "peak_bytes": torch.cuda.max_memory_reserved() if ON_GPU else 0,
        "loss": loss.item(),
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name() if ON_GPU else "none",
    }


class Mark:
    """A CUDA event, or the host's time where there is no GPU."""

    def __init__(self):
        self.event = torch.cuda.Event(enable_timing=True) if ON_GPU else None

    def record(self):
        self.seconds = time.perf_counter()
        if self.event:
            self.event.record()

    def microseconds_to(self, end):
        if not self.event:
            return (end.seconds - self.seconds) * 1e6
        end.event.synchronize()
        return self.event.elapsed_time(end.event) * 1e3


def microseconds(call, repeats=20):
    flushed = torch.empty(32 << 20, dtype=torch.uint8, device=DEVICE)
    times = []
    for _ in range(repeats + 3):
        begin, end = Mark(), Mark()
        flushed.fill_(1)
        begin.record()
        call()
        end.record()
        times.append(begin.microseconds_to(end))
    return statistics.median(times[3:])


def products(path):
    """Columns first, as in cuBLASLt: D is m x n; turned operands are stored the other way round."""
    found = []
    for p in json.load(open(path)):
        m, n, k = p["m"], p["n"], p["k"]
        dtype = torch.bfloat16 if p["bf16"] else torch.float32
        # in row-major terms: D^T [n, m] = B^T [n, k] A^T [k, m]
        left = torch.rand((k, n) if p["b_turned"] else (n, k), device=DEVICE).to(dtype) - 0.5
        right = torch.rand((m, k) if p["a_turned"] else (k, m), device=DEVICE).to(dtype) - 0.5
        left = left.t() if p["b_turned"] else left
        right = right.t() if p["a_turned"] else right
        out = torch.empty((n, m), device=DEVICE, dtype=dtype)
        found.append(microseconds(lambda: torch.mm(left, right, out=out)))
    return {"us": found}


def attention(batch, heads, length, depth):
    found = {}
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION),
                          ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        q, k, v, dy = (torch.randn(batch, length, heads, depth, device=DEVICE,
                                   dtype=torch.bfloat16).transpose(1, 2).requires_grad_(i < 3)
                       for i in range(4))
        try:
            with sdpa_kernel(backend):
                def forward():
                    return F.scaled_dot_product_attention(q, k, v, is_causal=True)

                y = forward()
                found[name] = {
                    "forward": microseconds(forward),
                    "backward": microseconds(
                        lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True)),
                }
        except RuntimeError as reason:
            print(f"{name}: {reason}", file=sys.stderr)
    return found


def losses(kernel, size, vocabulary, weights, tokens, batch, length, steps):
    from safetensors.torch import load_file

    loaded = load_file(weights)
    state = {}
    for name, value in loaded.items():
        name = name.removeprefix("transformer.")
        if name.startswith("lm_head"):
            continue
        transposed = ".c_" in name and name.endswith(".weight")
        state[name] = value.t().contiguous() if transposed else value
    model = GPT2(*size, vocabulary, state["wpe.weight"].shape[0])
    model.load_state_dict(state)
    model = model.to(DEVICE)
    master = [p.detach().clone() for p in model.parameters()]
    model = model.to(torch.bfloat16)
    if kernel == "f64":
        model = model.to(torch.float64)
    # as in the plan: everything decays but the norms
    names = [n for n, _ in model.named_parameters()]
    decay = [m for n, m in zip(names, master) if "ln_" not in n]
    rest = [m for n, m in zip(names, master) if "ln_" in n]
    settings = {**OPTIMIZER, "weight_decay": 0.0}
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": OPTIMIZER["weight_decay"]}, {"params": rest}], **settings
    )
    raw = open(tokens, "rb").read()
    count = struct.unpack_from("<3i", raw)[2]
    stream = torch.tensor(struct.unpack_from(f"<{count}H", raw, 1024), device=DEVICE)
    samples, found = (count - 1) // length, []
    for s in range(steps):
        at = [(s * batch + i) % samples * length for i in range(batch)]
        rows = torch.stack([stream[k : k + length + 1] for k in at]).long()
        with sdpa_kernel(BACKENDS["math" if kernel == "f64" else kernel]):
            loss = model(rows[:, :-1], rows[:, 1:])
            loss.backward()
        found.append(loss.item())
        for m, p in zip(master, model.parameters()):
            m.grad = p.grad.float()
            p.grad = None
        optimizer.step()
        with torch.no_grad():
            for m, p in zip(master, model.parameters()):
                p.copy_(m.to(torch.bfloat16))
    return {"losses": found, "torch": torch.__version__}


def main():
    what, *words = sys.argv[1:]
    if what == "time":
        size, vocabulary, length, mode, batch, steps = words
        found = time_steps(sizes(size), int(vocabulary), int(length), mode, int(batch), int(steps))
    elif what == "losses":
        kernel, size, vocabulary, weights, tokens, *counts = words
        found = losses(kernel, sizes(size), int(vocabulary), weights, tokens, *map(int, counts))
    elif what == "products":
        found = products(*words)
    elif what == "attention":
        found = attention(*map(int, words))
    else:
        sys.exit("peer.py: time, losses, products or attention")
    print(json.dumps(found))


main()
