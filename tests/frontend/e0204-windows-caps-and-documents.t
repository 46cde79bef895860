# RUN: %fsdpc dump --stage=model %s 2>&1 | grep -E '^error|help|m.fsd'
# Masks and documents that do not fit, and windows and caps out of range, are refused.
==== m.fsd
config { H = 4; hd = 2; V = 11 }
module Net {
  wte : Embedding(V, H * hd)
  head : Linear(H * hd, V)
  forward(ids: [B, T]) {
    q = wte(ids) as [B, T, H, hd]
    few = q[:, 1:]
    a = attention(q, q, q, mask = ids, documents = ids)
    b = attention(few, q, q, documents = ids)
    c = attention(q, q, q, mask = stack(ids, ids, axis = 1))
    d = attention(q, q, q, documents = stack(ids, ids, axis = 1))
    e = attention(few, few, few, documents = ids)
    f = attention(q, q, q, window = 0)
    g = attention(q, q, q, cap = 0)
    return head(q as [B, T, H * hd])
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets) }
==== out
error[E0208]: `attention` takes mask or documents, not both
 --> m.fsd:8:9
  = help: give positions that nothing may see a document of their own
error[E0208]: `documents` need keys at the positions of the queries
 --> m.fsd:9:9
  = help: write mask = seen, integers of shape [B, T, S]
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, H, hd], [B, T, H, hd] and [B, 2, T]
  --> m.fsd:10:9
   = help: mask has one number for each key or each pair [T, S], not i32[1, 2, 8]
error[E0204]: `attention` cannot take [B, T, H, hd], [B, T, H, hd], [B, T, H, hd] and [B, 2, T]
  --> m.fsd:11:9
   = help: documents has one number for each key, not i32[1, 2, 8]
error[E0204]: `attention` cannot take [B, 7, H, hd], [B, 7, H, hd], [B, 7, H, hd] and [B, T]
  --> m.fsd:12:9
   = help: mask i32[1, 8] has S = 8, k f32[1, 7, 4, 2] has S = 7
error[E0311]: `window` of `attention` must be at least 1, not 0
  --> m.fsd:13:37
error[E0311]: `cap` of `attention` must be above 0, not 0
  --> m.fsd:14:34
==== exit 1
