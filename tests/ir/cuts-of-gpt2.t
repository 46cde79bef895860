# RUN: %fsdpc dump --stage=fuse_elementwise %root/models/gpt2.fsd | %build/tests/modules/cuts all | sort | uniq -c | sed "s,^ *,,"
# The axes along which ranks may share out each op of GPT-2 that does arithmetic: sizes with letters of
# the signatures; + where results are partial, @ where the kernel must know where its part begins.
# NEEDS: build:tests/modules/cuts
==== out
2 add 768 1024 64
48 add_layer_norm 1024 64
24 attention_packed 64 B 12 H
12 attention_packed_grad 64 B 12 H
1 cross_entropy 64 .+ 1024 .+ 50257 V@
1 cross_entropy_both 64 .+ 1024 .+
1 embedding_grad 1024 .+ 768 D 1024 V@
1 embedding_grad 64 .+ 1024 .+ 768 D 50257 V@
2 layer_norm 64 . 1024 .
25 layer_norm_grad 64 .+ 1024 .+
24 linear 64 . 1024 . 2304 O 768 D+
2 linear 64 . 1024 . 50257 O 768 D+
24 linear 64 . 1024 . 768 O 3072 D+
24 linear 64 . 1024 . 768 O 768 D+
24 linear_gelu 64 . 1024 . 3072 O
12 linear_grad_input 64 . 1024 . 2304 O+ 768 D
12 linear_grad_input 64 . 1024 . 3072 O+ 768 D
1 linear_grad_input 64 . 1024 . 50257 O+ 768 D
12 linear_grad_input 64 . 1024 . 768 O+ 768 D
12 linear_grad_input_gelu 64 . 1024 . 768 O+ 3072 D
1 linear_grad_weight 64 .+ 1024 .+ 50257 O 768 D
12 linear_grad_weight_bias 64 .+ 1024 .+ 2304 O 768 D
12 linear_grad_weight_bias 64 .+ 1024 .+ 3072 O 768 D
12 linear_grad_weight_bias 64 .+ 1024 .+ 768 O 3072 D
12 linear_grad_weight_bias 64 .+ 1024 .+ 768 O 768 D
1 sum_leading 64 .+ 1024 S 768 S
