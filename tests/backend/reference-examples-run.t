# TIME: 90
# NEEDS: tool:mpirun build:transport_mpi.so sanitizer:none
# RUN: sed -n '/^```sh$/,/^```$/p' %root/docs/reference.md | grep -v '^```' >%t/examples; test $(wc -l <%t/examples) -gt 30
# RUN: mkdir bin; ln -s %fsdpc bin/fsdpc; ln -s %fsdp-run bin/fsdp-run; cp model.fsd other.txt; cp model.fsd questions.txt; export PATH=$PWD/bin:$PATH; fsdpc compile -q model.fsd -o plan.bin; cp plan.bin first.bin; fsdp-run -q --save first.safetensors --checkpoint old plan.bin >/dev/null; cp %root/tests/runtime/tokenizer.json .; mkdir hub; cp llama.json hub/config.json; cp %root/machines/h100-80.machine .; fsdpc machine --plan -n 2 -o measure; fsdpc dump --raw measure/f32.bin | %python %root/tests/foresight/traced.py 2 >f32.json; fsdp-run -q --save out.folder/ plan.bin; fsdpc compile -q model.fsd -s V=420 -s "data.train=synthetic_tokens(420)" -s train.eval_every=none -o ids.bin 2>/dev/null; fsdp-run -q --save w.safetensors ids.bin; while read -r line; do bash -e -o pipefail -c "$line" >%t/out 2>%t/err </dev/null || { echo "$line: $?"; head -n 5 %t/err; }; cp first.bin plan.bin; done <%t/examples
# Each example of a command line in the reference ends with exit code 0.
==== model.fsd
config { L = 2; D = 8; V = 256 }
preset "big" { L = 3 }
module Net {
  e : Embedding(V, D)
  h : Linear(D, D)[L]
  head : Linear(D, V)
  forward(ids) {
    x = e(ids)
    for layer in h { x = relu(layer(x)) }
    return head(x)
  }
}
model = Net
data { train = text("model.fsd"); val = text("model.fsd"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 16; steps = 3; eval_every = 3; eval_steps = 2; predict = model(inputs)[:, -1] }
shard { mesh = (dp = 2); unit = Linear }
==== config.yaml
fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true}
==== llama.json
{"model_type": "llama", "vocab_size": 256, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
==== config.json
{"zero_optimization": {"stage": 2}}
