"""PyTorch's side of tests/gpu/run and tests/gpu/bench: GPT-2 trained on one GPU, JSON on stdout.

    peer.py time SIZE MODE BATCH STEPS                     SIZE: 124M or xl, 1024 tokens a sample
    peer.py losses math|efficient|flash WEIGHTS TOKENS     20 steps of 4 samples of 64 tokens
    peer.py products FILE                                  [{m, n, k, a_turned, b_turned, bf16}]
    peer.py attention BATCH HEADS LENGTH DEPTH             causal, bf16, forward and backward

`time` is what a careful user writes: scaled_dot_product_attention, fused AdamW, and torch.compile
over the whole model for MODE compile and compile-pure. In MODE eager and compile the model is in
bf16 and its weights are copies of f32 ones, over which AdamW goes with gradients in f32, as in our
bf16(master = f32, reduce = f32); -pure has all in bf16. Random tokens stay on the GPU; the time is
that of whole steps by the host's clock between two waits, the median over blocks of five.

`products` and `attention` time single calls between two events, the median of 20, with 32 MiB
written in front of each as when our products are tuned.

`losses` computes as our bf16(master = f32, reduce = f32) does: a bf16 copy of f32 weights, bf16
activations, the loss in f32 from bf16 logits, AdamW in f32 over the f32 weights. WEIGHTS are a
.safetensors of transformers' names (fsdp-run --save); the word picks the attention kernel.
"""

import json
import statistics
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

SIZES = {"124M": (12, 768, 12), "xl": (48, 1600, 25)}
VOCABULARY, POSITIONS = 50257, 1024
OPTIMIZER = {"lr": 6e-4, "betas": (0.9, 0.95), "weight_decay": 0.1, "fused": True}
BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
}


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

    def __init__(self, layers, width, heads):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(POSITIONS, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


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


def time_steps(size, mode, batch, steps):
    if mode not in ("eager", "compile", "eager-pure", "compile-pure"):
        sys.exit(f"peer.py: no mode {mode}")
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = GPT2(*SIZES[size]).to(torch.bfloat16)
        ids = torch.randint(0, VOCABULARY, (batch, POSITIONS + 1))
    update = optimizer_of(model, mode.endswith("-pure"))
    loss_of = torch.compile(model) if mode.startswith("compile") else model

    def step():
        loss = loss_of(ids[:, :-1], ids[:, 1:])
        loss.backward()
        update()
        return loss

    start = time.perf_counter()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    warm_up = time.perf_counter() - start
    blocks = []
    for _ in range(max(1, steps // 5)):
        start = time.perf_counter()
        for _ in range(5):
            loss = step()
        torch.cuda.synchronize()
        blocks.append((time.perf_counter() - start) / 5 * 1e3)
    if not torch.isfinite(loss).item():
        sys.exit("peer.py: the loss is not finite")
    return {
        "step_ms": statistics.median(blocks),
        "blocks_ms": blocks,
        "warm_up_s": warm_up,
        "peak_bytes": torch.cuda.max_memory_reserved(),
        "torch": torch.__version__,
        "gpu": torch.cuda.get_device_name(),
    }


def microseconds(call, repeats=20):
    flushed = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(repeats + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flushed.fill_(1)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times[3:])


def products(path):
    """Columns first, as in cuBLASLt: D is m x n; turned operands are stored the other way round."""
    found = []
    for p in json.load(open(path)):
        m, n, k = p["m"], p["n"], p["k"]
        dtype = torch.bfloat16 if p["bf16"] else torch.float32
        # in row-major terms: D^T [n, m] = B^T [n, k] A^T [k, m]
        left = torch.rand((k, n) if p["b_turned"] else (n, k), device="cuda").to(dtype) - 0.5
        right = torch.rand((m, k) if p["a_turned"] else (k, m), device="cuda").to(dtype) - 0.5
        left = left.t() if p["b_turned"] else left
        right = right.t() if p["a_turned"] else right
        out = torch.empty((n, m), device="cuda", dtype=dtype)
        found.append(microseconds(lambda: torch.mm(left, right, out=out)))
    return {"us": found}


def attention(batch, heads, length, depth):
    found = {}
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION),
                          ("cudnn", SDPBackend.CUDNN_ATTENTION)):
        q, k, v, dy = (torch.randn(batch, length, heads, depth, device="cuda",
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


def losses(kernel, weights, tokens, batch=4, length=64, steps=20):
    from safetensors.torch import load_file

    loaded = load_file(weights)
    state = {}
    for name, value in loaded.items():
        name = name.removeprefix("transformer.")
        if name.startswith("lm_head"):
            continue
        transposed = ".c_" in name and name.endswith(".weight")
        state[name] = value.t().contiguous() if transposed else value
    model = GPT2(*SIZES["124M"])
    model.load_state_dict(state)
    model = model.to("cuda")
    master = [p.detach().clone() for p in model.parameters()]
    model = model.to(torch.bfloat16)
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
    stream = torch.tensor(struct.unpack_from(f"<{count}H", raw, 1024), device="cuda")
    samples, found = (count - 1) // length, []
    for s in range(steps):
        at = [(s * batch + i) % samples * length for i in range(batch)]
        rows = torch.stack([stream[k : k + length + 1] for k in at]).long()
        with sdpa_kernel(BACKENDS[kernel]):
            loss = model(rows[:, :-1], rows[:, 1:])
            loss.backward()
        found.append(loss.item())
        for m, p in zip(master, model.parameters()):
            m.grad = p.grad.float()
            p.grad = None
        optimizer.step()
        with torch.no_grad():
            for m, p in zip(master, model.parameters()):
                p.copy_(m)
    return {"losses": found, "torch": torch.__version__}


def main():
    what, *words = sys.argv[1:]
    if what == "time":
        size, mode, batch, steps = words
        print(json.dumps(time_steps(size, mode, int(batch), int(steps))))
    elif what == "losses":
        print(json.dumps(losses(*words)))
    elif what == "products":
        print(json.dumps(products(*words)))
    elif what == "attention":
        print(json.dumps(attention(*map(int, words))))
    else:
        sys.exit("peer.py: time, losses, products or attention")


main()
