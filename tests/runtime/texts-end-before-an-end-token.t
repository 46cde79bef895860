# RUN: printf 'abcdefgh\nabcdefgh\n' > t.txt; %fsdpc compile -q toy.fsd -o p && %fsdp-run -q --threads 1 --save w/ p; printf '{"eos_token_id": [200, 10]}' > w/generation_config.json
# RUN: for a in "" "--end-token none" "--end-token 103"; do %fsdp-run -q --load w --generate ab --tokens 9 $a p | tr '\n' '/'; echo; done; printf 'f\nab\r\nh' > prompts; %fsdp-run -q --load w --prompts prompts --tokens 5 p | sed "s/\"logprobs\":[^]]*]/LOGS/"
# RUN: mv w/model.safetensors alone; %fsdp-run -q --load alone --generate ab --tokens 9 p | tr '\n' '/'; echo
# RUN: : > none; printf 'a\n\nb' > gap; head -c 3 /dev/zero > zero; for a in "--prompts none" "--prompts gap" "--prompts zero" "--prompts missing" "--prompts gap --generate a" "--generate a --top-k 2" "--generate a --top-p 0.3" "--generate a --temperature 1 --top-p 1.5" "--generate a --temperature 1 --top-k 0" "--generate a --end-token x" "--end-token 3" "--prompts gap --eval-only" "--prompts gap --steps 1"; do %fsdp-run -q $a --load alone p 2>&1 | grep -v ^help; done; true
# A text ends before an end token: that of --end-token, or of the folder that the weights come from.
# NEEDS: build:device_cpu.so
==== toy.fsd
module Toy {
  emb : Embedding(128, 16)
  out : Linear(16, 128)
  forward(x) = out(emb(x))
}
model = Toy
data { train = text("t.txt"); length = 8 }
train { loss = cross_entropy(model(inputs), targets); batch = 2; steps = 60; optimizer = adamw(lr = 0.1) }
==== out
abcdefgh/
abcdefgh/ab/
abcdef/
{"prompt":"f","ids":[103,104],"text":"gh",LOGS,"ended":true}
{"prompt":"ab","ids":[99,100,101,102,103],"text":"cdefg",LOGS,"ended":false}
{"prompt":"h","ids":[],"text":"",LOGS,"ended":true}
abcdefgh/ab/
error: --prompts: none is empty: write a prompt in each line
error: --prompts: gap:2: the prompt must have at least one token
error: --prompts: zero: not a text file: it contains a zero byte
error: --prompts: cannot read missing: No such file or directory
error: --generate and --prompts exclude each other
error: --top-k needs --temperature: without it the likeliest token is taken
error: --top-p needs --temperature: without it the likeliest token is taken
error: --top-p 1.5: must be a number above 0 and at most 1
error: --top-k 0: must be a whole number of at least 1
error: --end-token x: must be a whole number of at least 0
error: --end-token needs --generate or --prompts
error: --eval-only and --prompts exclude each other
error: --prompts does not train, so it excludes --steps
