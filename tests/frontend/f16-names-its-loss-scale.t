# RUN: scale() { %fsdpc compile -q net.fsd -o p "$@" 2>e; rc=$?; grep -E '^error' e; [ $rc = 0 ] || return $rc; %fsdpc dump p | grep 'loss scale'; }; for v in none dynamic 1024; do scale -s "train.precision=f16(scale = $v)"; done; for v in 1024 '(32768, 2, 0.5, 9)'; do scale -s 'train.precision=f16(scale = 1024)' -s "train.loss_scale=$v"; scale -s 'train.precision=f16(scale = dynamic)' -s "train.loss_scale=$v"; done; for v in 3 static; do scale -s "train.precision=f16(scale = $v)"; done; true
# RUN: %fsdpc compile -q net.fsd -o p -s 'train.precision=f16(scale = 1024)' -s train.loss_scale=512
# f16(scale = ..) is what train.loss_scale is: dynamic or a number that stays; where both are given, they agree.
==== net.fsd
module Net {
  fc : Linear(8, 4)
  forward(x) = fc(x)
}
model = Net
data  { train = synthetic(x = [8], y = 4) }
train { loss = cross_entropy(model(x), y); batch = 4; steps = 4 }
==== out
  loss scale  65,536, times 2 after 2,000 steps without overflow, times 0.5 after one with it
  loss scale  65,536, times 2 after 2,000 steps without overflow, times 0.5 after one with it
  loss scale  1,024
  loss scale  1,024
error[E0318]: scale = dynamic, but loss_scale = 1024
error[E0318]: scale = 1024, but loss_scale = (32768, 2, 0.5, 9)
  loss scale  32,768, times 2 after 9 steps without overflow, times 0.5 after one with it
error[E0318]: scale must start at a power of two from 1 to 2^60, not at 3
error[E0313]: `scale` of `f16` cannot be `static`
==== err
error[E0318]: scale = 1024, but loss_scale = 512
 --> -s:1:29
  |
1 | train.precision=f16(scale = 1024)
  |                             ^^^^
  |
  = help: remove one of them; -s train.loss_scale=none removes loss_scale
note: loss_scale is given here
 --> -s:1:18
  |
1 | train.loss_scale=512
  |                  ^^^

==== exit 1
