# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|^note|-->|help:'
# Two names tables of one label, and two patterns that are alike in one table, are errors.
==== m.fsd
module Net {
  wte : Embedding(4, 4)
  forward(ids) = linear(wte(ids), wte.weight)
}
model = Net
names hf { "*" = "a.*"; "*" = "b.*"; "x.*" = skip }
names hf { "*" = "c.*" }
names other { "*" = "c.*"; "y" = gone }
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0304]: pattern `*` is given twice
 --> m.fsd:6:25
note: it is also given here
 --> m.fsd:6:12
error[E0304]: names table `hf` is given twice
 --> m.fsd:7:1
note: it is also given here
 --> m.fsd:6:1
error[E0306]: a names table holds "pattern" = "name" and "pattern" = skip
 --> m.fsd:8:28
  = help: for example "*" = "transformer.*", or "up" = "gate_up"[F : 2 * F]
==== exit 1
