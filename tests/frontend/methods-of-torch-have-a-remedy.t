# RUN: while IFS= read -r line; do awk -v l="$line" '{sub("LINE", l); print}' m.fsd > n.fsd; %fsdpc dump --stage=model n.fsd 2>&1 | grep -E '^error|help:'; done < lines; true
# What PyTorch writes in a method is answered by what is written here.
==== lines
x = relu(x) // comment
nn.Linear(D, D)
self.x = x
x = h(x)
x = LayerNorm(D)(x)
y = z.shape[0]
y = x[:, None]
y = x.transpose(1, 2)
y = transpose(x, 1, 2)
y = mean(x, dim=-1)
y = mean(x, -1, keepdim=true)
y = softmax(x, dim=-1)
y = torch.cat([x, x], dim=-1)
y = F.gelu(x)
y = [layer(x) for layer in h]
y = lambda x: x
y = x is none
assert D > 2
pass
x: Tensor = relu(x)
y = .5 * x
y = {a: 1}
y = [1, 2,]
y = 'a'
y = x.float()
y = x.contiguous()
y = x.argmax(-1)
y = zeros(T)
==== m.fsd
config { D = 4; V = 70 }
module Block {
  fc : Linear(D, D)
  forward(x) = x + fc(x)
}
module Net {
  emb : Embedding(V, D)
  h : Block[2]
  head : Linear(D, V)
  forward(ids: [B, T]) {
    x = emb(ids)
    LINE
    return head(x)
  }
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 4 }
==== out
error[E0207]: there is no name `comment` here
   = help: comments start with `#`; `//` divides and rounds down
error[E0101]: unexpected `.`, expected `(` or `=` or `,`
   = help: modules and functions have no prefix; a module is a field, fc : Linear(D, D), that a method calls: fc(x)
error[E0101]: unexpected `.`, expected `(` or `=` or `,`
   = help: fields have no prefix: declare them in the module, as in fc : Linear(D, D), and write a local as name = expression
error[E0223]: `h` is an array of modules, not one module
   = help: for layer in h { x = layer(x) } calls them one after the other, h[0](x) calls one; all at once they take the rows that `dispatch` returns
error[E0207]: module `LayerNorm` must be declared as a field before it can be called
   = help: declare it as a field of the module, name : LayerNorm(..), and call the field: name(x)
error[E0207]: there is no name `z` here
   = help: axes have the names that the method declares: forward(x: [B, T, D])
error[E0207]: there is no name `None` here
   = help: `as` makes a new axis: x as [B, 1, T, D]
error[E0209]: a tensor has no field `transpose`
   = help: write transpose(x, [0, 2, 1]), or name the axes in their new order: x as [B, H, T, h]
error[E0208]: `transpose` takes at most 2 arguments, but 3 are given
   = help: give the axes as a list in their new order: transpose(x, [0, 2, 1])
error[E0208]: `mean` has no argument `dim`
   = help: the argument is `axis`
error[E0208]: `mean` has no argument `keepdim`
   = help: the axis is always kept with size 1; `as` removes it: mean(x, axis = -1) as [B, T]
error[E0208]: `softmax` has no argument `dim`
   = help: it works along the last axis; move another axis there with `as` or transpose
error[E0207]: there is no name `torch` here
   = help: write concat(x, y, axis = -1)
error[E0207]: there is no name `F` here
   = help: call functions without a prefix: gelu(..)
error[E0104]: `[` is not closed
   = help: write out the elements of a list; a loop is a statement: for layer in h { x = layer(x) }
error[E0101]: unexpected name `x`, expected end of line or `(` or `[`
   = help: write a method next to forward: name(x) = relu(x) ** 2
error[E0101]: unexpected name `is`, expected end of line or `(` or `[`
   = help: write == none or != none
error[E0101]: unexpected name `D`, expected `(` or `=` or `,`
   = help: write conditions in a module or in config: require D % H == 0
error[E0101]: unexpected end of line, expected `(` or `=` or `,`
   = help: an empty block is { }
error[E0101]: unexpected `:`, expected `(` or `=` or `,`
   = help: a local is written name = expression, without a type
error[E0101]: unexpected `.`, expected an expression
   = help: a number starts with a digit: 0.5
error[E0101]: unexpected `{`, expected an expression
   = help: there are no dictionaries; settings are keys of a section, as in train { batch = 8 }
error[E0101]: unexpected `]`, expected an expression
   = help: no comma follows the last element
error[E0109]: `'a'` is not allowed here
   = help: write strings in double quotes
error[E0209]: a tensor has no field `float`
   = help: train.precision sets the dtype of computation; ids are integers, and comparisons are 0 or 1
error[E0209]: a tensor has no field `contiguous`
   = help: a tensor never changes, so it needs no copy: remove this
error[E0209]: a tensor has no field `argmax`
   = help: topk returns indices too: values, indices = topk(x, 1)
error[E0208]: `zeros` takes no arguments
   = help: it is an initial value for parameters; in a method, use a number: 0 * x
