# RUN: %fsdpc help attention
# The page of a function of tensors.
==== out
attention (function of tensors)

    attention(q: tensor, k: tensor, v: tensor, causal: bool = false, scale: real = auto)

  softmax(q k^T * scale) v of each head, in the layout [B, T, heads, head size]

  arguments
    q: tensor                       queries [B, T, H, h]
    k: tensor                       keys [B, S, K, h], K a divisor of H
    v: tensor                       values [B, S, K, h]
    causal: bool = false            position t sees positions up to t only
    scale: real = auto              factor of the products; auto is 1 / sqrt(h)
    mask: tensor = none             which positions are seen (not in this version)
    bias: tensor = none             added to the products (not in this version)

  example
    o = attention(q, k, v, causal = true)
