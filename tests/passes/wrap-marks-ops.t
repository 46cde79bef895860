# RUN: %fsdpc dump --stage=train %root/tests/passes/model-t.fsd | %fsdpc opt --pass=wrap | sed -n '/^program train/,/^end/s/.*= \([a-z_]*\)(.*!/\1 !/p' | sed 's/ [0-9]*:.*//' | uniq
# An op belongs to the innermost unit around its module, in backward too.
==== out
field !forward unit 3 -
embedding !forward unit 3 "emb"
linear !forward unit 0 "u0"
relu !forward unit 0 "u0"
linear !forward unit 1 "u1"
relu !forward unit 1 "u1"
linear !forward unit 2 "u2"
relu !forward unit 2 "u2"
linear !forward unit 3 "head"
cross_entropy_both !forward unit 3 -
linear_grad_weight !backward unit 3 "head"
linear_grad_input !backward unit 3 "head"
relu_grad !backward unit 2 "u2"
linear_grad_weight !backward unit 2 "u2"
linear_grad_input !backward unit 2 "u2"
relu_grad !backward unit 1 "u1"
linear_grad_weight !backward unit 1 "u1"
linear_grad_input !backward unit 1 "u1"
relu_grad !backward unit 0 "u0"
linear_grad_weight !backward unit 0 "u0"
linear_grad_input !backward unit 0 "u0"
embedding_grad !backward unit 3 "emb"
