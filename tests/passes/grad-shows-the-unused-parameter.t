# RUN: %fsdpc dump -W no-unused-local --stage=train net.fsd
# The error about a parameter without gradient shows where it is declared and where it is read.
==== net.fsd
module Net {
  wte  : Embedding(256, 4)
  head : Linear(4, 256)
  left : Linear(4, 8)
  gone : param[4] = ones
  forward(ids) {
    x = wte(ids)
    unread = left(x)
    return head(x)
  }
}
model = Net
data  { train = text("t.txt"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 1; optimizer = sgd(lr = 0.1) }
==== t.txt
some words that are long enough for a batch of two samples
==== err
error[E0420]: gone gets no gradient; mark it @frozen or use it
 --> net.fsd:5:3
  |
5 |   gone : param[4] = ones
  |   ^^^^

error[E0420]: left.weight gets no gradient; mark it @frozen or use it
 --> net.fsd:4:3
  |
4 |   left : Linear(4, 8)
  |   ^^^^
note: it is used here, but nothing leads from here to the loss
 --> net.fsd:8:14
  |
8 |     unread = left(x)
  |              ^^^^^^^

==== exit 1
