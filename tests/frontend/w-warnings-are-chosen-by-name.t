# RUN: for w in no-unused-config no-W0301 error no-unused-config,error error=zero-lr; do echo "$w:"; %fsdpc dump --stage=model ${w:+-W${w%,*}} $(test ${w#*,} = $w || echo "-W ${w#*,}") m.fsd 2>&1 >/dev/null | grep '\[W'; done; true
# RUN: ! %fsdpc dump --stage=config -W no-such m.fsd; ! %fsdpc dump --stage=model -W error m.fsd >out 2>err; cat out
# -W no-NAME silences a warning, by name or code; error makes all errors, error=NAME one; a silent
# warning stays silent; with an error there is no output.
==== m.fsd
config { unused = 1 }
module Net {
  w : Embedding(4, 4)
  forward(x) = linear(w(x), w.weight)
}
model = Net
data { train = tokens("t.bin"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); optimizer = sgd(lr = 0) }
==== out
no-unused-config:
warning[W0305]: lr = 0: the weights never change
no-W0301:
warning[W0305]: lr = 0: the weights never change
error:
error[W0301]: config name `unused` is never used
error[W0305]: lr = 0: the weights never change
no-unused-config,error:
error[W0305]: lr = 0: the weights never change
error=zero-lr:
warning[W0301]: config name `unused` is never used
error[W0305]: lr = 0: the weights never change
==== err
error[E0503]: `-W`: there is no warning `no-such`
  = help: `fsdpc help warnings` lists them

