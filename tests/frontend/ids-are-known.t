# RUN: %fsdpc compile -q -n 1 %s -o p && echo fits
# RUN: for e in 'iota(T) + 5' 'iota(T) - 1' '9 + (ids >= 0)' 'clamp(iota(T), 9, 20)' '9 - clamp(iota(T), -9, -1)' 'iota(T) / 2' 'sum(pos.weight) + iota(T)'; do sed "s|pos(0 \* ids)|pos($e)|" m.fsd > n.fsd; %fsdpc compile -q -n 1 n.fsd -o p 2>&1 | grep -E '^error|= help'; done; true
# Ids of which only integers can come need no int(..); those that surely have no row are refused, others are left to the kernel.
==== m.fsd
config { D = 4; V = 11 }
module Net {
  emb : Embedding(V, D)
  pos : Embedding(9, D)
  head : Linear(D, V)
  forward(ids: [B, T]) {
    m = where(ids % 3 == 0, 1, 2)
    x = pos(iota(T) + 3) + pos(iota(T) % 4 * 2 + m) + pos(clamp(ids * 3 - 8, 0, 8)) + pos(floor(iota(T) / 2))
    x += pos(-1 * iota(T) + 5) + pos(max(iota(T) - 3, 0)) + pos(ids * 2 - 4) + pos(cumsum(ids == 0) + T - T)
    return head(emb(ids) + x + pos(0 * ids))
  }
}
model = Net
data { train = synthetic_tokens(vocab = 11); length = 6 }
train { loss = cross_entropy(model(inputs), targets); batch = 4; steps = 3 }
==== out
fits
error[E0204]: [9, D] has 9 entries along axis 0, too few for `gather`: D = 4 (line 1)
   = help: ids from 0 to 8 have an entry, but these are 5 to 10: clamp(ids, 0, n - 1) limits them
error[E0204]: [9, D] has 9 entries along axis 0, too few for `gather`: D = 4 (line 1)
   = help: ids from 0 to 8 have an entry, but these are -1 to 4: clamp(ids, 0, n - 1) limits them
error[E0204]: [9, D] has 9 entries along axis 0, too few for `gather`: D = 4 (line 1)
   = help: ids from 0 to 8 have an entry, but these are 9 to 10: clamp(ids, 0, n - 1) limits them
error[E0204]: [9, D] has 9 entries along axis 0, too few for `gather`: D = 4 (line 1)
   = help: ids from 0 to 8 have an entry, but each of these is 9: clamp(ids, 0, n - 1) limits them
error[E0204]: [9, D] has 9 entries along axis 0, too few for `gather`: D = 4 (line 1)
   = help: ids from 0 to 8 have an entry, but each of these is 10: clamp(ids, 0, n - 1) limits them
error[E0204]: `gather` takes integers
   = help: these can be fractions: write gather(table, int(ids)); an id that the table does not have ends the run
error[E0204]: `gather` takes integers
   = help: these can be fractions: write gather(table, int(ids)); an id that the table does not have ends the run
