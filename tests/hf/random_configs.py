"""Random configs of the families in models/hf, as keywords of Transformers' config classes, for
hf_cases.py."""
import random


def rope(r, kinds=("default",), theta=True):
    kind = r.choice(kinds)
    out = {"rope_type": kind, "rope_theta": r.choice([1e4, 5e5, 1e6, 777.5]) if theta else 1e4}
    if kind != "default":
        out["factor"] = r.choice([2.0, 8.0, 3.5])
    if kind == "llama3":
        out |= {"low_freq_factor": 1.0, "high_freq_factor": r.choice([4.0, 2.0]),
                "original_max_position_embeddings": r.choice([16, 64, 8192])}
    if kind == "yarn":
        out |= {"original_max_position_embeddings": r.choice([16, 64, 4096])}
    return out


def heads(r, even=2):
    kv = r.choice([1, 2, 4])
    h = kv * r.choice([1, 2])
    return h, kv, r.choice([8, 16])


ACTS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "quick_gelu", "relu2", "swish"]


def common(r):
    h, kv, hd = heads(r)
    return {"vocab_size": r.choice([64, 97, 130]), "hidden_size": h * hd,
            "num_hidden_layers": r.choice([1, 2, 3]), "num_attention_heads": h,
            "num_key_value_heads": kv, "intermediate_size": r.choice([48, 80]),
            "max_position_embeddings": r.choice([24, 64]), "bos_token_id": None,
            "eos_token_id": None, "pad_token_id": None, "hidden_act": r.choice(ACTS)}


ROPES = ("default", "default", "linear", "llama3", "yarn", "dynamic")


def eps(r):
    return r.choice([1e-6, 1e-5, 1e-3])


def llama(r):
    return common(r) | {"head_dim": r.choice([None, 8, 12]), "rms_norm_eps": eps(r),
                        "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.3,
                        "tie_word_embeddings": r.random() < 0.5,
                        "rope_parameters": rope(r, ROPES)}


def windowed(r):
    """sliding_window and the like of Qwen."""
    use = r.random() < 0.5
    return {"use_sliding_window": use, "sliding_window": r.choice([4, 12, 64]) if use else None,
            "max_window_layers": r.choice([0, 1, 28])}


def mistral(r):
    return common(r) | {"head_dim": r.choice([None, 8, 12]), "rms_norm_eps": eps(r),
                        "sliding_window": r.choice([None, 3, 12, 4096]),
                        "tie_word_embeddings": r.random() < 0.5, "rope_parameters": rope(r, ROPES)}


def qwen2(r):
    return common(r) | windowed(r) | {"rms_norm_eps": eps(r), "rope_parameters": rope(r, ROPES),
                                      "tie_word_embeddings": r.random() < 0.5}


def qwen3(r):
    return qwen2(r) | {"head_dim": r.choice([8, 12]), "attention_bias": r.random() < 0.5}


def gemma(r):
    return common(r) | {"head_dim": r.choice([8, 12]), "rms_norm_eps": eps(r),
                        "attention_bias": r.random() < 0.5, "rope_parameters": rope(r, ROPES),
                        "tie_word_embeddings": r.random() < 0.7}


def gpt2(r):
    h = r.choice([1, 2, 4])
    return {"vocab_size": r.choice([64, 97]), "n_embd": h * r.choice([8, 16]), "n_head": h,
            "n_layer": r.choice([1, 2, 3]), "n_positions": r.choice([24, 64]),
            "n_inner": r.choice([None, 40]), "activation_function": r.choice(ACTS),
            "layer_norm_epsilon": eps(r), "scale_attn_weights": r.random() < 0.8,
            "scale_attn_by_inverse_layer_idx": r.random() < 0.3,
            "tie_word_embeddings": r.random() < 0.7, "bos_token_id": None, "eos_token_id": None}


def tied(r, share=0.5):
    return {"tie_word_embeddings": r.random() < share}


PARTIAL_ROPES = ("default", "default", "linear", "llama3", "yarn")


def partial(r, *shares):
    return {"rope_parameters": rope(r, PARTIAL_ROPES) | {"partial_rotary_factor": r.choice(shares)}}


def gemma2(r):
    layers = r.choice([1, 2, 3])
    kinds = r.choice([None, [r.choice(["full_attention", "sliding_attention"])
                             for _ in range(layers)]])
    out = gemma(r) | {"num_hidden_layers": layers, "layer_types": kinds,
                      "hidden_activation": r.choice(ACTS),
                      "query_pre_attn_scalar": r.choice([8, 16, 50]),
                      "attn_logit_softcapping": r.choice([50.0, 2.0]),
                      "final_logit_softcapping": r.choice([None, 30.0, 1.5]),
                      "sliding_window": r.choice([4, 16, 4096])}
    out.pop("hidden_act")
    return out


def gptj(r):
    out = gpt2(r)
    for key in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx"):
        out.pop(key)
    return out | {"rotary_dim": r.choice([4, 8])} | tied(r, 0.3)


def granite(r):
    return common(r) | tied(r) | {
        "rms_norm_eps": eps(r), "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.3,
        "embedding_multiplier": r.choice([1.0, 12.0]), "residual_multiplier": r.choice([1.0, 0.22]),
        "attention_multiplier": r.choice([1.0, 0.25, 0.015625]), "rope_parameters": rope(r, ROPES),
        "logits_scaling": r.choice([1.0, 8.0])}


def phi(r):
    return common(r) | tied(r, 0.3) | partial(r, 0.5, 0.25, 1.0) | {
        "layer_norm_eps": eps(r), "qk_layernorm": r.random() < 0.4}


def phi3(r):
    return common(r) | tied(r, 0.3) | {
        "rms_norm_eps": eps(r), "sliding_window": r.choice([None, 5, 4096]),
        "rope_parameters": rope(r) | {"partial_rotary_factor": r.choice([1.0, 0.5])}}


def gpt_neox(r):
    out = common(r) | tied(r, 0.3) | partial(r, 0.25, 0.5, 1.0) | {
        "layer_norm_eps": eps(r), "attention_bias": r.random() < 0.7,
        "use_parallel_residual": r.random() < 0.6}
    out.pop("num_key_value_heads")
    return out


def stablelm(r):
    return common(r) | tied(r, 0.3) | partial(r, 0.25, 0.5, 1.0) | {
        "layer_norm_eps": eps(r), "use_qkv_bias": r.random() < 0.5,
        "qk_layernorm": r.random() < 0.1, "use_parallel_residual": r.random() < 0.5}


def starcoder2(r):
    return common(r) | tied(r) | {"norm_epsilon": eps(r), "use_bias": r.random() < 0.7,
                                  "sliding_window": r.choice([None, 7, 4096]),
                                  "rope_parameters": rope(r, ROPES)}


def olmo(r):
    return common(r) | tied(r) | {"attention_bias": r.random() < 0.3,
                                  "clip_qkv": r.choice([None, None, 0.5, 8.0]),
                                  "rope_parameters": rope(r, ROPES)}


def cohere(r):
    return common(r) | tied(r, 0.8) | {
        "layer_norm_eps": eps(r), "logit_scale": r.choice([0.0625, 1.0]),
        "attention_bias": r.random() < 0.3, "use_qk_norm": r.random() < 0.1,
        "rope_parameters": rope(r, ("default",) * 5 + ("linear",))}


def mixtral(r):
    return mistral(r) | {"num_local_experts": r.choice([2, 4]), "num_experts_per_tok": 2}


def falcon(r):
    out = common(r) | tied(r, 0.7) | {
        "layer_norm_epsilon": eps(r), "bias": r.random() < 0.3, "multi_query": True,
        "parallel_attn": r.random() < 0.9, "alibi": r.random() < 0.1,
        "new_decoder_architecture": r.random() < 0.1, "rope_parameters": rope(r, ROPES),
        "activation": r.choice(ACTS), "ffn_hidden_size": r.choice([40, 64])}
    for key in ("num_key_value_heads", "intermediate_size", "hidden_act"):
        out.pop(key)
    return out


def bloom(r):
    h = r.choice([1, 2, 4, 8])
    return {"vocab_size": r.choice([64, 97]), "hidden_size": h * 8, "n_head": h,
            "n_layer": r.choice([1, 2]), "layer_norm_epsilon": eps(r), "bos_token_id": None,
            "apply_residual_connection_post_layernorm": r.random() < 0.1, "eos_token_id": None,
            "hidden_dropout": 0.0, "attention_dropout": 0.0} | tied(r, 0.8)


def gpt_oss(r):
    out = gemma2(r)
    for key in ("hidden_activation", "query_pre_attn_scalar", "attn_logit_softcapping",
                "final_logit_softcapping"):
        out.pop(key)
    yarn = rope(r, ("yarn",)) | {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    return out | {"num_local_experts": r.choice([2, 4]), "num_experts_per_tok": 2,
                  "swiglu_limit": r.choice([7.0, 0.5]), "attention_bias": True,
                  "rope_parameters": r.choice([yarn, rope(r)])}


def deepseek_v2(r):
    out = common(r) | {
        "num_key_value_heads": None, "first_k_dense_replace": r.choice([0, 1]),
        "n_routed_experts": 4, "n_shared_experts": r.choice([1, 2]), "num_experts_per_tok": 2,
        "moe_intermediate_size": 24, "kv_lora_rank": r.choice([16, 24]), "rms_norm_eps": eps(r),
        "q_lora_rank": r.choice([None, 16]), "qk_nope_head_dim": r.choice([8, 16]),
        "qk_rope_head_dim": r.choice([4, 8]), "v_head_dim": r.choice([8, 16]),
        "attention_bias": r.random() < 0.3, "mlp_bias": r.random() < 0.2,
        "routed_scaling_factor": r.choice([1.0, 2.5]), "rope_parameters": rope(r)}
    return out | {"num_key_value_heads": out["num_attention_heads"]} | tied(r, 0.2)


def bert(r):
    out = common(r) | {"layer_norm_eps": r.choice([1e-12, 1e-5]), "hidden_dropout_prob": 0.0,
                       "type_vocab_size": r.choice([2, 3]), "pad_token_id": None}
    out.pop("num_key_value_heads")
    return out


def albert(r):
    return bert(r) | {"embedding_size": r.choice([8, 16]), "inner_group_num": 1,
                      "num_hidden_groups": 1 + (r.random() < 0.1),
                      "attention_probs_dropout_prob": 0.0}


def modernbert(r):
    layers = r.choice([1, 2, 3, 4])
    kinds = r.choice([None, [r.choice(["full_attention", "sliding_attention"])
                             for _ in range(layers)]])
    ropes = {kind: {"rope_type": "default", "rope_theta": r.choice([1e4, 160000.0, 5e5])}
             for kind in ("full_attention", "sliding_attention")}
    if r.random() < 0.1:
        ropes["full_attention"] = {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}
    out = common(r) | tied(r, 0.7) | {
        "num_hidden_layers": layers, "layer_types": kinds, "rope_parameters": ropes,
        "global_attn_every_n_layers": r.choice([1, 2, 3]), "local_attention": r.choice([4, 9, 128]),
        "norm_eps": eps(r), "hidden_activation": r.choice(ACTS),
        "classifier_activation": r.choice(ACTS), "classifier_pooling": r.choice(["cls", "mean"]),
        "cls_token_id": None, "sep_token_id": None}
    for key in ("norm", "attention", "mlp", "classifier", "decoder"):
        out[f"{key}_bias"] = r.random() < 0.5
    for key in ("num_key_value_heads", "hidden_act"):
        out.pop(key)
    return out


def vit(r):
    out = common(r) | {"layer_norm_eps": r.choice([1e-12, 1e-5]), "qkv_bias": r.random() < 0.6,
                       "num_channels": r.choice([1, 3]), "num_labels": r.choice([2, 3, 10])}
    out["patch_size"] = r.choice([4, 8])
    out["image_size"] = out["patch_size"] * r.choice([1, 2, 3])
    for key in ("num_key_value_heads", "vocab_size", "max_position_embeddings"):
        out.pop(key)
    return out


def t5(r):
    h = r.choice([1, 2, 4])
    return {"vocab_size": r.choice([64, 97]), "d_model": h * r.choice([8, 16]), "num_heads": h,
            "d_kv": r.choice([8, 12]), "d_ff": r.choice([40, 64]), "num_layers": r.choice([1, 2]),
            "num_decoder_layers": r.choice([1, 2]), "layer_norm_epsilon": eps(r),
            "relative_attention_num_buckets": r.choice([8, 32]),
            "relative_attention_max_distance": r.choice([20, 128]), "dropout_rate": 0.0,
            "feed_forward_proj": r.choice(["relu", "relu", "relu", "gated-gelu"])}


FAMILIES = {
    "albert": ("AlbertForMaskedLM", albert),
    "bert": ("BertForMaskedLM", bert),
    "bloom": ("BloomForCausalLM", bloom),
    "cohere": ("CohereForCausalLM", cohere),
    "deepseek_v2": ("DeepseekV2ForCausalLM", deepseek_v2),
    "falcon": ("FalconForCausalLM", falcon),
    "gemma": ("GemmaForCausalLM", gemma),
    "gemma2": ("Gemma2ForCausalLM", gemma2),
    "gpt2": ("GPT2LMHeadModel", gpt2),
    "gpt_neox": ("GPTNeoXForCausalLM", gpt_neox),
    "gpt_oss": ("GptOssForCausalLM", gpt_oss),
    "gptj": ("GPTJForCausalLM", gptj),
    "granite": ("GraniteForCausalLM", granite),
    "llama": ("LlamaForCausalLM", llama),
    "mistral": ("MistralForCausalLM", mistral),
    "mixtral": ("MixtralForCausalLM", mixtral),
    "modernbert": ("ModernBertForMaskedLM", modernbert),
    "olmo": ("OlmoForCausalLM", olmo),
    "phi": ("PhiForCausalLM", phi),
    "phi3": ("Phi3ForCausalLM", phi3),
    "qwen2": ("Qwen2ForCausalLM", qwen2),
    "qwen3": ("Qwen3ForCausalLM", qwen3),
    "t5": ("T5ForConditionalGeneration", t5),
    "stablelm": ("StableLmForCausalLM", stablelm),
    "vit": ("ViTForImageClassification", vit),
    "starcoder2": ("Starcoder2ForCausalLM", starcoder2),
}


def make(family, seed):
    """The keywords of a random config."""
    r = random.Random(f"{family} {seed}")
    config = FAMILIES[family][1](r)
    return {k: v for k, v in config.items()
            if v is not None or k.endswith("_id") or r.random() < 0.5}
