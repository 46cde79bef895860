" Vim syntax file: model files of fsdpc (*.fsd); editors/update.py writes the words
if exists("b:current_syntax") | finish | endif

syntax keyword fsdDeclaration module config preset use model tie
syntax keyword fsdControl require for in if else return
syntax keyword fsdWordOperator as and or not
syntax keyword fsdConstant true false none
syntax keyword fsdModule Linear Embedding LayerNorm RMSNorm Activation Rotary
syntax match fsdFunction "\<\%(linear\|gather\|layer_norm\|rms_norm\|relu\|silu\|gelu\|tanh\|sigmoid\|dropout\|attention\|rope\|relative_bias\|iota\|split\|transpose\|concat\|stack\|expand\|matmul\|mean\|sum\|max\|min\|cumsum\|clamp\|where\|exp\|log\|sqrt\|rsqrt\|abs\|floor\|ceil\|int\|sin\|cos\|stop_gradient\|softmax\|logsumexp\|softplus\|topk\|dispatch\|combine\|load_balance\|aux\|cross_entropy\|binary_cross_entropy\|kl\|mse\|accuracy\|round\|range\)\ze\s*("
syntax match fsdInitial "\<\%(zeros\|ones\|normal\)\>\%(\s*=\)\@!"
syntax match fsdAttribute "@\%(no_decay\|frozen\|f32\)\>"
syntax match fsdOperator "+=\|[=!<>]=\|//\|\*\*\|[-+*/%<>=^]"
syntax match fsdNumber "\<\d\+\%(\.\d\+\)\?\%([eE][-+]\?\d\+\)\?\%(\%([kMGT]\|[KMG]i\)\?B\|[kMGT]\|[KMG]i\)\?\>"
syntax match fsdParam "\<param\ze\s*\["
syntax match fsdName "\%(\<module\s\+\)\@<=\h\w*"
syntax match fsdType "\%(:\s*\)\@<=\u\w*\>"
syntax match fsdComment "#.*$" contains=@Spell
syntax region fsdString start=+"+ end=+"+ oneline
syntax cluster fsdCommon contains=fsdOperator,fsdNumber,fsdParam,fsdType,fsdComment,fsdString,fsdDeclaration,fsdControl,fsdWordOperator,fsdConstant,fsdModule,fsdFunction,fsdInitial,fsdAttribute
syntax region fsdBraces start="{" end="}" contained transparent contains=@fsdCommon,fsdBraces

syntax region fsdSectionData matchgroup=fsdSection start="\<data\s*{" end="}" contains=@fsdCommon,fsdBraces,fsdKeyData,fsdCallData,fsdWordData
syntax match fsdWordData "\<\%(shuffle\|sequential\)\>" contained
syntax match fsdCallData "\<\%(text\|tokens\|npy\|synthetic\|synthetic_tokens\|mlm\|span_corruption\)\>" contained
syntax match fsdKeyData "\<\%(train\|val\|length\|order\)\>\ze\s*=[^=]" contained
highlight default link fsdWordData fsdWord
highlight default link fsdCallData fsdCall
highlight default link fsdKeyData fsdKey

syntax region fsdSectionTrain matchgroup=fsdSection start="\<train\s*{" end="}" contains=@fsdCommon,fsdBraces,fsdKeyTrain,fsdCallTrain,fsdWordTrain
syntax match fsdWordTrain "\<\%(inf\|stop\|skip\|continue\)\>" contained
syntax match fsdCallTrain "\<\%(sgd\|adam\|adamw\|lion\|adafactor\|muon\|adan\|constant\|cosine\|linear\|rsqrt\|wsd\|group\|frozen\|f32\|bf16\|f16\)\>" contained
syntax match fsdKeyTrain "\<\%(loss\|metric\|predict\|cache\|batch\|accumulate\|steps\|epochs\|optimizer\|schedule\|clip\|clip_value\|clip_norm\|precision\|loss_scale\|loss_chunks\|eval_every\|eval_steps\|seed\|on_nan\)\>\ze\s*=[^=]" contained
highlight default link fsdWordTrain fsdWord
highlight default link fsdCallTrain fsdCall
highlight default link fsdKeyTrain fsdKey

syntax region fsdSectionShard matchgroup=fsdSection start="\<shard\s*{" end="}" contains=@fsdCommon,fsdBraces,fsdKeyShard,fsdCallShard,fsdWordShard
syntax match fsdWordShard "\<\%(full\|grads\|states\|none\|sharded\|local\|each\|last\|one_f_one_b\|gpipe\|interleaved\|pre\|post\|flat\|param\|f32\|bf16\|f16\|f8e4m3\|i8\|auto\|update\|gather\|unit\|split\|stack\|transpose\|slice\|concat\|add\|sub\|mul\|scale\|relu\|gelu\|silu\|tanh\|sigmoid\|to_float\|widen\|to_int\|div\|remainder\|power\|maximum\|minimum\|at_least\|at_most\|less\|less_equal\|equal\|unequal\|where\|exp\|log\|sqrt\|rsqrt\|abs\|floor\|ceil\|sin\|cos\|softplus\|dropout\|expand\|mean\|sum\|max\|min\|linear\|matmul\|embedding\|pick\|cumsum\|layer_norm\|rms_norm\|rope\|softmax\|logsumexp\|topk\|route\|dispatch\|combine\|experts_linear\|balance\|average\|attention\|relative_bias\|cross_entropy_each\)\>" contained
syntax match fsdCallShard "\<\%(unit\|join\|recompute\|reshard\|replicate\|split\|whole\|gather\|size\|mean\|sum\|divide\)\>" contained
syntax match fsdKeyShard "\<\%(mesh\|rows\|gather_again\|unit\|strategy\|reshard\|reshard_root\|accumulate\|hold\|all_reduce\|pipeline\|stages\|prefetch\|prefetch_at\|inflight\|reduce_buffers\|layout\|align\|gather\|cast\|scale\|bucket\|replicate_below\|recompute\|offload\)\>\ze\s*=[^=]" contained
highlight default link fsdWordShard fsdWord
highlight default link fsdCallShard fsdCall
highlight default link fsdKeyShard fsdKey

syntax region fsdSectionCheckpoint matchgroup=fsdSection start="\<checkpoint\s*{" end="}" contains=@fsdCommon,fsdBraces,fsdKeyCheckpoint,fsdCallCheckpoint,fsdWordCheckpoint
syntax match fsdWordCheckpoint "\<\%(direct\|copy\|sharded\|full\)\>" contained
syntax match fsdKeyCheckpoint "\<\%(path\|every\|keep\|keep_every\|keep_best\|snapshot\|form\)\>\ze\s*=[^=]" contained
highlight default link fsdWordCheckpoint fsdWord
highlight default link fsdCallCheckpoint fsdCall
highlight default link fsdKeyCheckpoint fsdKey

highlight default link fsdDeclaration Structure
highlight default link fsdControl Statement
highlight default link fsdWordOperator Operator
highlight default link fsdConstant Boolean
highlight default link fsdModule Type
highlight default link fsdFunction Function
highlight default link fsdInitial Function
highlight default link fsdAttribute PreProc
highlight default link fsdOperator Operator
highlight default link fsdNumber Number
highlight default link fsdParam StorageClass
highlight default link fsdName Typedef
highlight default link fsdType Type
highlight default link fsdComment Comment
highlight default link fsdString String
highlight default link fsdSection Structure
highlight default link fsdKey Identifier
highlight default link fsdCall Function
highlight default link fsdWord Constant

let b:current_syntax = "fsd"
