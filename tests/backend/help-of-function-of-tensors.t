# RUN: %fsdpc help attention
# The page of a function of tensors.
==== out
attention (function of tensors)

    attention(q: tensor, k: tensor, v: tensor, causal: bool = false, scale: real | auto = auto, bias: tensor?, mask: tensor?, window: int?, cap: real?, documents: tensor?, sinks: tensor?)

  softmax(q k^T * scale + bias) v of each head, in the layout [B, T, heads, head size]

  arguments
    q: tensor                       queries [B, T, H, h], h up to 256
    k: tensor                       keys [B, S, K, h], K a divisor of H
    v: tensor                       values [B, S, K, h]; if their width is not h, the narrower is
                                    padded with zeros
    causal: bool = false            position t sees only positions up to t
    scale: real | auto = auto       scale factor of the scores; auto is 1 / sqrt(h)
    bias: tensor = none             [H, T, S], added to the scaled scores, the same for all samples;
                                    H can be 1 or omitted; or [B, H, T, S], H can be 1
    mask: tensor = none             [B, S] or [B, T, S], integers; a key whose mask is 0 is not
                                    attended to; where no key is left the result is 0
    window: int = none              position t sees only positions s with |t - s| < window; with
                                    causal the last `window` up to t
    cap: real = none                a scaled score x becomes cap * tanh(x / cap), before a bias is
                                    added
    documents: tensor = none        [B, T], integers; of packed samples the document of each
                                    position, which sees only its own; not with mask
    sinks: tensor = none            [H]: the score of one more key that every query of the head
                                    sees, and whose value is 0; not with bias

  example
    o = attention(q, k, v, causal = true, window = 3)
