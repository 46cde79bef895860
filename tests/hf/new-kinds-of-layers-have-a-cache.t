# RUN: cd %root && %python tests/hf/cached.py %fsdpc %fsdp-run models/hf/{bloom,deepseek_v2,gpt_oss,mixtral,bert,t5,vit}.fsd
# With train.cache a bias of attention, sinks, keys of several parts and experts say what the whole model says; models that
# do not generate are refused.
# NEEDS: build:device_cpu.so
# TIME: 60
==== out
bloom: the same
deepseek_v2: the same
gpt_oss: the same
mixtral: the same
bert: error[E0230]: train.cache needs what --generate needs: rows of at least two tokens, not of mlm or span_corruption, and a cross entropy
t5: error[E0230]: train.cache needs what --generate needs: rows of at least two tokens, not of mlm or span_corruption, and a cross entropy
vit: error[E0230]: train.cache needs what --generate needs: rows of at least two tokens, not of mlm or span_corruption, and a cross entropy
