# RUN: while IFS= read -r line; do echo "$line" >config.json; %fsdpc import config.json -o m.fsd; echo $? $(sed -n 's/ *"model_type": \("[^"]*"\).*/\1/p' config.json); done <configs 2>&1 | sed 's/m.fsd: a model of //'
# Config files in the form in which models stand on the hub, older names of keys included, are read; their models have the published numbers of parameters.
==== configs
{"activation_function":"gelu_new","architectures":["GPT2LMHeadModel"],"attn_pdrop":0.1,"bos_token_id":50256,"embd_pdrop":0.1,"eos_token_id":50256,"initializer_range":0.02,"layer_norm_epsilon":1e-05,"model_type":"gpt2","n_ctx":1024,"n_embd":768,"n_head":12,"n_layer":12,"n_positions":1024,"resid_pdrop":0.1,"summary_activation":null,"summary_first_dropout":0.1,"summary_proj_to_labels":true,"summary_type":"cls_index","summary_use_proj":true,"task_specific_params":{"text-generation":{"do_sample":true,"max_length":50}},"vocab_size":50257}
{"activation_function":"gelu_new","architectures":["GPTJForCausalLM"],"attn_pdrop":0.0,"bos_token_id":50256,"embd_pdrop":0.0,"eos_token_id":50256,"gradient_checkpointing":false,"initializer_range":0.02,"layer_norm_epsilon":1e-05,"model_type":"gptj","n_embd":4096,"n_head":16,"n_inner":null,"n_layer":28,"n_positions":2048,"resid_pdrop":0.0,"rotary":true,"rotary_dim":64,"scale_attn_weights":true,"summary_type":"cls_index","tie_word_embeddings":false,"tokenizer_class":"GPT2Tokenizer","use_cache":true,"vocab_size":50400}
{"architectures":["GPTNeoXForCausalLM"],"bos_token_id":0,"eos_token_id":0,"hidden_act":"gelu","hidden_size":512,"initializer_range":0.02,"intermediate_size":2048,"layer_norm_eps":1e-05,"max_position_embeddings":2048,"model_type":"gpt_neox","num_attention_heads":8,"num_hidden_layers":6,"rotary_emb_base":10000,"rotary_pct":0.25,"tie_word_embeddings":false,"torch_dtype":"float16","use_cache":true,"use_parallel_residual":true,"vocab_size":50304}
{"architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,"bos_token_id":128000,"eos_token_id":128001,"head_dim":64,"hidden_act":"silu","hidden_size":2048,"initializer_range":0.02,"intermediate_size":8192,"max_position_embeddings":131072,"mlp_bias":false,"model_type":"llama","num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"pretraining_tp":1,"rms_norm_eps":1e-05,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,"original_max_position_embeddings":8192,"rope_type":"llama3"},"rope_theta":500000.0,"tie_word_embeddings":true,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":128256}
{"architectures":["MistralForCausalLM"],"bos_token_id":1,"eos_token_id":2,"hidden_act":"silu","hidden_size":4096,"initializer_range":0.02,"intermediate_size":14336,"max_position_embeddings":32768,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"rms_norm_eps":1e-05,"rope_theta":10000.0,"sliding_window":4096,"tie_word_embeddings":false,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":32000}
{"architectures":["Qwen2ForCausalLM"],"attention_dropout":0.0,"bos_token_id":151643,"eos_token_id":151643,"hidden_act":"silu","hidden_size":896,"initializer_range":0.02,"intermediate_size":4864,"max_position_embeddings":32768,"max_window_layers":24,"model_type":"qwen2","num_attention_heads":14,"num_hidden_layers":24,"num_key_value_heads":2,"rms_norm_eps":1e-06,"rope_theta":1000000.0,"sliding_window":32768,"tie_word_embeddings":true,"torch_dtype":"bfloat16","use_cache":true,"use_mrope":false,"use_sliding_window":false,"vocab_size":151936}
{"architectures":["GemmaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,"bos_token_id":2,"eos_token_id":1,"head_dim":256,"hidden_act":"gelu","hidden_activation":null,"hidden_size":2048,"initializer_range":0.02,"intermediate_size":16384,"max_position_embeddings":8192,"model_type":"gemma","num_attention_heads":8,"num_hidden_layers":18,"num_key_value_heads":1,"pad_token_id":0,"rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":10000.0,"torch_dtype":"bfloat16","use_cache":true,"vocab_size":256000}
{"apply_residual_connection_post_layernorm":false,"architectures":["BloomForCausalLM"],"attention_dropout":0.0,"attention_softmax_in_fp32":true,"bias_dropout_fusion":true,"bos_token_id":1,"eos_token_id":2,"hidden_dropout":0.0,"initializer_range":0.02,"layer_norm_epsilon":1e-05,"masked_softmax_fusion":true,"model_type":"bloom","n_embed":1024,"n_inner":null,"n_layer":24,"num_attention_heads":16,"offset_alibi":100,"pad_token_id":3,"pretraining_tp":1,"seq_length":2048,"skip_bias_add":true,"skip_bias_add_qkv":false,"unk_token_id":0,"use_cache":true,"vocab_size":250880}
{"architectures":["BertForMaskedLM"],"attention_probs_dropout_prob":0.1,"gradient_checkpointing":false,"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"initializer_range":0.02,"intermediate_size":3072,"layer_norm_eps":1e-12,"max_position_embeddings":512,"model_type":"bert","num_attention_heads":12,"num_hidden_layers":12,"pad_token_id":0,"position_embedding_type":"absolute","type_vocab_size":2,"use_cache":true,"vocab_size":30522}
{"architectures":["T5ForConditionalGeneration"],"d_ff":2048,"d_kv":64,"d_model":512,"decoder_start_token_id":0,"dropout_rate":0.1,"eos_token_id":1,"feed_forward_proj":"relu","initializer_factor":1.0,"is_encoder_decoder":true,"layer_norm_epsilon":1e-06,"model_type":"t5","n_positions":512,"num_heads":8,"num_layers":6,"output_past":true,"pad_token_id":0,"relative_attention_num_buckets":32,"task_specific_params":{"summarization":{"early_stopping":true}},"use_cache":true,"vocab_size":32128}
{"architectures":["MistralForCausalLM"],"attention_dropout":0.0,"bos_token_id":1,"eos_token_id":2,"head_dim":128,"hidden_act":"silu","hidden_size":4096,"initializer_range":0.02,"intermediate_size":14336,"max_position_embeddings":32768,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"rms_norm_eps":1e-05,"rope_theta":1000000.0,"sliding_window":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"4.42.0.dev0","use_cache":true,"vocab_size":32768}
{"architectures":["ModernBertForMaskedLM"],"attention_bias":false,"attention_dropout":0.0,"bos_token_id":50281,"classifier_activation":"gelu","classifier_bias":false,"classifier_dropout":0.0,"classifier_pooling":"mean","cls_token_id":50281,"decoder_bias":true,"deterministic_flash_attn":false,"embedding_dropout":0.0,"eos_token_id":50282,"global_attn_every_n_layers":3,"global_rope_theta":160000.0,"gradient_checkpointing":false,"hidden_activation":"gelu","hidden_size":768,"initializer_cutoff_factor":2.0,"initializer_range":0.02,"intermediate_size":1152,"layer_norm_eps":1e-05,"local_attention":128,"local_rope_theta":10000.0,"max_position_embeddings":8192,"mlp_bias":false,"mlp_dropout":0.0,"model_type":"modernbert","norm_bias":false,"norm_eps":1e-05,"num_attention_heads":12,"num_hidden_layers":22,"pad_token_id":50283,"position_embedding_type":"absolute","sep_token_id":50282,"tie_word_embeddings":true,"torch_dtype":"float32","vocab_size":50368}
{"architectures":["ViTForImageClassification"],"attention_probs_dropout_prob":0.0,"encoder_stride":16,"hidden_act":"gelu","hidden_dropout_prob":0.0,"hidden_size":768,"id2label":{"0":"airplane","1":"automobile","2":"bird","3":"cat","4":"deer","5":"dog","6":"frog","7":"horse","8":"ship","9":"truck"},"image_size":224,"initializer_range":0.02,"intermediate_size":3072,"label2id":{"airplane":0},"layer_norm_eps":1e-12,"model_type":"vit","num_attention_heads":12,"num_channels":3,"num_hidden_layers":12,"patch_size":16,"problem_type":"single_label_classification","qkv_bias":true,"torch_dtype":"float32"}
==== out
family gpt2 with 124,439,808 parameters
0
family gptj with 6,050,882,784 parameters
0
family gpt_neox with 70,426,624 parameters
0
family llama with 1,235,814,400 parameters
0
family mistral with 7,241,732,096 parameters
0
family qwen2 with 494,032,768 parameters
0
family gemma with 2,506,172,416 parameters
0
family bloom with 559,214,592 parameters
0
family bert with 109,514,298 parameters
0
family t5 with 60,506,624 parameters
0
family mistral with 7,248,023,552 parameters
0
family modernbert with 149,655,232 parameters
0
family vit with 85,806,346 parameters
0
