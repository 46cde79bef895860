"""peer.py FSDPC FSDP_RUN [MODEL...]: what Hugging Face Transformers computes for the models here.

Trains each model at a small size with trained.sh, loads the weights that fsdp-run saved into the
class of Transformers, and prints its loss and gradient norm for the same bytes: the numbers in
as-transformers.t. Needs torch and transformers; run it by hand.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
import transformers as tf
from safetensors.torch import load_file

HERE = pathlib.Path(__file__).parent
SMALL = {"vocab_size": 97, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 32, "bos_token_id": None, "eos_token_id": None,
         "pad_token_id": None}


def rope(theta, **more):
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta} | more}


MODELS = {
    "bloom": (tf.BloomForCausalLM, tf.BloomConfig,
              {"n_layer": 2, "n_head": 4, "hidden_dropout": 0, "attention_dropout": 0}),
    "cohere": (tf.CohereForCausalLM, tf.CohereConfig,
               {"intermediate_size": 96, "num_key_value_heads": 4, **rope(8e6)}),
    "falcon": (tf.FalconForCausalLM, tf.FalconConfig,
               {"multi_query": True, "parallel_attn": True, "new_decoder_architecture": False,
                "bias": False, "alibi": False, **rope(1e4)}),
    "gemma": (tf.GemmaForCausalLM, tf.GemmaConfig,
              {"intermediate_size": 96, "num_key_value_heads": 1, "head_dim": 16,
               "hidden_activation": "gelu_pytorch_tanh", **rope(1e4)}),
    "gemma2": (tf.Gemma2ForCausalLM, tf.Gemma2Config,
               {"intermediate_size": 96, "num_key_value_heads": 2, "head_dim": 16,
                "query_pre_attn_scalar": 16, "sliding_window": 8, "attn_logit_softcapping": 50.0,
                "final_logit_softcapping": 30.0, "attn_implementation": "eager", **rope(1e4)}),
    "gpt_oss": (tf.GptOssForCausalLM, tf.GptOssConfig,
                {"intermediate_size": 48, "num_key_value_heads": 2, "head_dim": 16,
                 "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8,
                 "attn_implementation": "eager",
                 **rope(150000.0, rope_type="yarn", factor=32.0, beta_fast=32.0, beta_slow=1.0,
                        truncate=False, original_max_position_embeddings=4096)}),
    "granite": (tf.GraniteForCausalLM, tf.GraniteConfig,
                {"intermediate_size": 96, "num_key_value_heads": 2, "embedding_multiplier": 12.0,
                 "attention_multiplier": 0.015625, "residual_multiplier": 0.22,
                 "logits_scaling": 8.0, "tie_word_embeddings": True, "rms_norm_eps": 1e-5,
                 **rope(1e4)}),
    "olmo": (tf.OlmoForCausalLM, tf.OlmoConfig,
             {"intermediate_size": 96, "num_key_value_heads": 4, "tie_word_embeddings": True,
              **rope(1e4)}),
    "phi2": (tf.PhiForCausalLM, tf.PhiConfig,
             {"intermediate_size": 256, **rope(1e4, partial_rotary_factor=0.5)}),
    "phi3": (tf.Phi3ForCausalLM, tf.Phi3Config,
             {"intermediate_size": 96, "num_key_value_heads": 2,
              "original_max_position_embeddings": 32, **rope(1e4)}),
    "pythia": (tf.GPTNeoXForCausalLM, tf.GPTNeoXConfig,
               {"intermediate_size": 256, "use_parallel_residual": True, "rotary_pct": 0.25,
                **rope(1e4, partial_rotary_factor=0.25)}),
    "qwen3": (tf.Qwen3ForCausalLM, tf.Qwen3Config,
              {"intermediate_size": 96, "num_key_value_heads": 2, "head_dim": 24,
               "tie_word_embeddings": True, "rms_norm_eps": 1e-6, **rope(1e6)}),
    "deepseek": (tf.DeepseekV2ForCausalLM, tf.DeepseekV2Config,
                 {"intermediate_size": 96, "num_key_value_heads": 4, "first_k_dense_replace": 1,
                  "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2,
                  "moe_intermediate_size": 32, "kv_lora_rank": 32, "q_lora_rank": None,
                  "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
                  "topk_method": "greedy", "norm_topk_prob": False, "routed_scaling_factor": 1.0,
                  "rms_norm_eps": 1e-6, **rope(1e4)}),
    "stablelm": (tf.StableLmForCausalLM, tf.StableLmConfig,
                 {"intermediate_size": 96, "num_key_value_heads": 2, "use_qkv_bias": True,
                  "use_parallel_residual": False, "hidden_dropout": 0, "attention_dropout": 0,
                  **rope(1e4, partial_rotary_factor=0.25)}),
    "starcoder2": (tf.Starcoder2ForCausalLM, tf.Starcoder2Config,
                   {"intermediate_size": 256, "num_key_value_heads": 2, "use_bias": True,
                    "residual_dropout": 0, "embedding_dropout": 0, "sliding_window": None,
                    **rope(999999.4420358813)}),
}


BY_NAME = {"deepseek"}  # experts are one tensor in memory: the loader turns their names


def numbers(name, fsdpc, run, folder):
    """Ours, and those of Transformers, as texts."""
    ours = subprocess.run(["bash", HERE / "trained.sh", fsdpc, run, HERE / f"{name}.fsd"],
                          cwd=folder, check=True, capture_output=True, text=True).stdout.split()
    kind, config, more = MODELS[name]
    model = kind(config(**SMALL, **more)).eval()
    if name in BY_NAME:
        model.config.save_pretrained(folder)
        (folder / "w.safetensors").rename(folder / "model.safetensors")
        model, info = kind.from_pretrained(folder, output_loading_info=True)
        if any(info.values()):
            sys.exit(f"{name}: {info}")
        return ours, computed(model.eval(), folder)
    weights = load_file(folder / "w.safetensors")
    if "embed_out.weight" not in model.state_dict() and "embed_out.weight" in weights:
        weights["lm_head.weight"] = weights.pop("embed_out.weight")  # its name since version 5
    missing, unexpected = model.load_state_dict(weights, strict=False)
    if unexpected or [n for n in missing if n != "lm_head.weight"]:
        sys.exit(f"{name}: missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    return ours, computed(model, folder)


def computed(model, folder):
    text = (folder / "t.txt").read_bytes()
    ids = torch.tensor([list(text[32 * i:32 * i + 33]) for i in range(4)])
    logits = model(ids[:, :-1]).logits.double()
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 97), ids[:, 1:].reshape(-1))
    loss.backward()
    norm = torch.sqrt(sum((p.grad.double() ** 2).sum() for p in model.parameters()))
    return [f"{loss.item():.9g}", f"{norm.item():.9g}"]


def main():
    fsdpc, run = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    for name in sys.argv[3:] or sorted(MODELS):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = numbers(name, fsdpc, run, pathlib.Path(folder))
        print(name, "ours", *ours, "Transformers", *theirs)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
