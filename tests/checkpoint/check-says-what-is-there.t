# RUN: seq 300 > t.txt; %fsdpc compile -q net.fsd -n 2 -o p && %fsdp-run -q --threads 1 --checkpoint ck --checkpoint-every 4 p && %fsdpc check ck && %fsdpc check -v ck; %fsdpc check ck/step-00000004/; mv ck/step-00000008 ck/step-00000009; %fsdpc check ck; echo "exit $?"; printf x | dd of=ck/step-00000004/rank-00000-of-00002.safetensors bs=1 seek=5000 conv=notrunc 2> /dev/null; %fsdpc check --error-format=json ck/step-00000004
# Nothing where all is well, the rest with -v; a checkpoint under the name of another step is damaged.
# NEEDS: build:device_cpu.so
==== net.fsd
module Net {
  emb : Embedding(128, 12)
  fc  : Linear(12, 20, bias = true)
  out : Linear(20, 128)
  forward(x) = out(relu(fc(emb(x))))
}
model = Net
data { train = text("t.txt"); length = 5 }
train { loss = cross_entropy(model(inputs), targets); batch = 12; steps = 8; optimizer = adamw(lr = 0.01) }
shard { unit = Linear }
==== out
step 8, after 96 samples, in the files of ranks (dp = 2)
manifest: what was written, with 26 settings
files: 4, all there and no others; 68656 bytes, 4 blocks have their hash
tensors: 4 weights, 8 of the optimizer; names, shapes and places in the headers are the manifest's
exit 3
==== err
error[E0512]: ck/step-00000009/manifest.json: it describes step 8, but its folder is named for step 9
  = help: the newest intact checkpoint before it is ck/step-00000004

{"code":"E0512","severity":"error","message":"ck/step-00000004/rank-00000-of-00002.safetensors: bytes 0 to 30111 are damaged: checksum mismatch","file":null,"line":0,"col":0,"end_line":0,"end_col":0,"notes":[],"help":"no earlier checkpoint is intact"}
==== exit 3
