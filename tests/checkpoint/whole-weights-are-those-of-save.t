# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 3 -o p && %fsdp-run -q --threads 1 --checkpoint ck --max-file 9KB --save w p && ls ck/step-00000008 | grep -v optimizer && %fsdpc check -v ck && %fsdp-run -q --steps 0 --load ck/step-00000008/model.safetensors.index.json --save v p && cmp v w; s=ck/step-00000008; printf x | dd of=$s/model-00002-of-00003.safetensors bs=1 seek=5000 conv=notrunc 2> /dev/null; %fsdpc check ck; true
# RUN: %fsdpc compile -q net.fsd -n 2 -o q && %fsdp-run -q --threads 1 --checkpoint ck2 q; sed -i 's/hidden/hiding/' ck2/step-00000008/config.json; %fsdpc check ck2
# A checkpoint of form full has its weights as --save writes them: names, index and config.json; and bytes that are another
# one's are noticed in each of them.
# NEEDS: build:device_cpu.so
==== net.fsd
config hf { model_type = "net"; hidden = 12 }
module Net {
  emb : Embedding(128, 12)
  fc  : Linear(12, 20, bias = true)
  out : Linear(20, 128)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
names hf { "*" = "net.*" }
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 8; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
checkpoint { form = full }
==== out
config.json
manifest.json
model-00001-of-00003.safetensors
model-00002-of-00003.safetensors
model-00003-of-00003.safetensors
model.safetensors.index.json
step 8, after 96 samples, in the files of ranks (dp = 3)
manifest: what was written, with 26 settings
files: 8, all there and no others; 85040 bytes, 24 blocks have their hash
tensors: 4 weights, 8 of the optimizer; names, shapes and places in the headers are the manifest's
==== err
error[E0512]: ck/step-00000008/model-00002-of-00003.safetensors: bytes 0 to 7511 are damaged: checksum mismatch
  = help: no earlier checkpoint is intact

error[E0512]: ck2/step-00000008/config.json: it does not have the content that was written
  = help: no earlier checkpoint is intact

==== exit 3
