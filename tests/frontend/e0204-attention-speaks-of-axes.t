# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|help|m.fsd'
# A mask, a bias and heads that do not fit are refused by axis; so is a bias from too few buckets.
==== m.fsd
config { H = 4; KV = 3; hd = 2; V = 11; N = 2 }
module Net {
  wte : Embedding(V, H * hd)
  few : Embedding(V, KV * hd)
  wide : Embedding(V, 257)
  near : param[N, H] = zeros
  head : Linear(H * hd, V)
  forward(ids: [B, T]) {
    q = wte(ids) as [B, T, H, hd]
    k = few(ids) as [B, T, KV, hd]
    a = attention(q, q, q, mask = ids as [B * T])
    b = attention(q, q, q, mask = wte(ids))
    c = attention(q, q, q, bias = relative_bias(near, T, 2, max_distance = 9, bidirectional = false))
    d = attention(q, k, k)
    e = attention(q, q, q, bias = near, mask = ids)
    w = wide(ids) as [B, T, 1, 257]
    i = attention(w, w, w)
    f = relative_bias(near, T, T)
    g = relative_bias(near, T, T, max_distance = 1, bidirectional = false)
    h = relative_bias(wte, T, T)
    return head(q as [B, T, H * hd])
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, H, hd], [B, T, H, hd] and [B*T]
  --> m.fsd:11:9
   = help: mask must be i32[B, ..., S], not i32[8]
error[E0204]: `mask` of `attention` must be integers
  --> m.fsd:12:35
   = help: these can be fractions: int(..) cuts them off
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, H, hd], [B, T, H, hd] and [H, T, 2]
  --> m.fsd:13:9
   = help: bias f32[4, 8, 2] has S = 2, k f32[1, 8, 4, 2] has S = 8
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, KV, hd] and [B, T, KV, hd]: H = 4 (line 1), KV = 3 (line 1)
  --> m.fsd:14:9
   = help: 4 heads of q cannot share 3 heads of k evenly
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, H, hd], [B, T, H, hd], [N, H] and [B, T]
  --> m.fsd:15:9
   = help: bias must be [H, T, S], not f32[2, 4]
error[E0204]: `attention` cannot take [B, T, 1, 257], [B, T, 1, 257] and [B, T, 1, 257]
  --> m.fsd:17:9
   = help: a head of attention is 1 to 256 wide, not 257
error[E0204]: `relative_bias` cannot take [N, H]
  --> m.fsd:18:9
   = help: w has an even number of rows from 4 to 512, not 2
error[E0311]: `max_distance` of `relative_bias` must be at least 2, not 1
  --> m.fsd:19:50
error[E0310]: `weight` of `relative_bias` must be a tensor, not a module
  --> m.fsd:20:23
   = help: call the module, name(x), or write one of its parameters, name.weight
==== exit 1
