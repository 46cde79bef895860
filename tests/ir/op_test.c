/* Ops: every row of the table with operands that match, and with operands and results that do not;
 * the cost of an execution; names. */
#include <stdlib.h>
#include <string.h>

#include "ir.h"
#include "signature.h"
#include "test.h"

/* TYPE_OF(DT_F32, 2, 3): f32[2, 3] */
#define TYPE_OF(dtype, ...)                                                                        \
    type_of(dtype, (int)ARRAY_LEN(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

/* Every op that has a rule, and others, once with right types. The values in front are operands;
 * levels do not matter here. Each is of forward. */
static const char *const every_op[] = {
    "graph shard",
    "mesh dp = 2",
    "policy compute_dtype = bf16",
    "module 0 \"\" M",
    "param 0 \"w\" module 0 f32[5, 3] zeros compute bf16",
    "param 1 \"b\" module 0 f32[5] zeros compute bf16",
    "state 0 step \"step\" f64[16]",
    "state 1 staging \"staging\" u8[2, 512]",
    "state 2 outbox \"outbox\" u8[2, 256] stage 0",
    "field 0 \"inputs\" i32[2, 7] staging 64",
    "unit 0 \"\" M modules 0 groups 0, 1 below 20 owned 20 root",
    "unit 1 \"h\" M modules 0 groups 2 below 15 owned 15",
    "group 0 unit 0 trainable master f32 compute bf16 reduce f32 wire f8e4m3 params 0@0, 1@16 "
    "unpadded 21 padded 22 shard 11",
    "group 1 unit 0 frozen master f32 compute f32 reduce f32 params 1@0 unpadded 5 padded 6 shard "
    "3",
    "group 2 unit 1 trainable master f32 compute bf16 reduce f32 params 0@0 unpadded 15 padded 16 "
    "shard 8",
    "formula 0 operands 2: f32 mul(x0, x1); bf16 silu(t0) -> y0",
    "program train",
    "#0 %0: bf16[5, 3] = param {index = 0}",
    "#1 %1: f32[5, 3] = cast(%0)",
    "#3 set_grad(%1) {index = 0}",
    "#4 %4: f64[16] = state {index = 0}",
    "#5 set_state(%4) {index = 0}",
    "#6 %5: u8[2, 512] = state {index = 1}",
    "#7 %6: i32[2, 7] = field(%5, %4) {index = 0}",
    "#8 %8: i32[9] = iota",
    "#9 %9: bf16[2, 7, 3] = fill {alpha = 0}",
    "#10 %10: bf16[14, 3] = reshape(%9)",
    "#11 %11: bf16[2, 3], %12: bf16[2, 3], %13: bf16[2, 3], %14: bf16[2, 3], %15: bf16[2, 3], %16: "
    "bf16[2, 3], %17: bf16[2, 3] = split(%9) {axis = 1}",
    "#12 %18: bf16[2, 3, 2] = stack(%11, %12) {axis = 2}",
    "#13 %19: bf16[2, 7, 5] = linear(%9, %0)",
    "#14 %20: f32[5] = sum_leading(%19)",
    "#15 %21: f32[5] = sum_leading(%19, %20)",
    "#16 %22: bf16[2, 7, 5] = linear(%9, %1, %20)",
    "#17 %23: bf16[2, 7, 5] = add(%22, %20)",
    "#18 %24: bf16[2, 7, 5] = sub(%22, %23)",
    "#19 %25: bf16[2, 7, 5] = mul(%22, %20)",
    "#20 %26: bf16[2, 7, 5] = scale(%22) {alpha = 2}",
    "#21 %27: bf16[2, 7, 5] = relu(%22)",
    "#22 %28: bf16[2, 7, 5] = gelu(%22) {approx = tanh}",
    "#23 %29: bf16[2, 7, 5] = silu(%22)",
    "#24 %30: bf16[2, 7, 5] = dropout(%22, %4) {p = 0.5}",
    "#25 %31: bf16[2, 7, 5] = relu_grad(%22, %23)",
    "#26 %32: bf16[2, 7, 5] = gelu_grad(%22, %23) {approx = erf}",
    "#27 %33: bf16[2, 7, 5] = silu_grad(%22, %23)",
    "#28 %34: bf16[2, 7, 3] = linear_grad_input(%22, %0)",
    "#29 %35: f32[5, 3] = linear_grad_weight(%22, %9)",
    "#30 %36: f32[5, 3] = linear_grad_weight(%22, %9, %35)",
    "#78 %188: bf16[2, 7, 5], %189: bf16[2, 7, 5] = linear_gelu(%9, %1, %20) {approx = tanh}",
    "#79 %190: bf16[2, 7, 3] = linear_grad_input_gelu(%22, %0, %9) {approx = tanh}",
    "#80 %191: f32[5, 3], %192: f32[5] = linear_grad_weight_bias(%22, %9)",
    "#31 %37: bf16[2, 7, 3] = embedding(%0, %6)",
    "#32 %38: f32[11, 3] = embedding_grad(%37, %6)",
    "#33 %39: f32[11, 3] = embedding_grad(%37, %6, %38)",
    "#34 %40: bf16[2, 7, 5], %41: f32[2, 7], %42: f32[2, 7] = layer_norm(%22, %20, %21) {eps = "
    "1e-5}",
    "#35 %43: bf16[2, 7, 5] = layer_norm_grad_input(%22, %40, %20, %41, %42)",
    "#36 %44: f32[5] = layer_norm_grad_weight(%22, %40, %41, %42)",
    "#37 %45: bf16[2, 7, 5], %46: f32[2, 7] = rms_norm(%22, %20) {eps = 1e-5}",
    "#38 %47: bf16[2, 7, 5] = rms_norm_grad_input(%22, %45, %20, %46)",
    "#39 %48: f32[5] = rms_norm_grad_weight(%22, %45, %46)",
    "#40 %49: bf16[2, 7, 6, 4] = fill {alpha = 0}",
    "#41 %50: bf16[2, 9, 3, 4] = fill {alpha = 0}",
    "#42 %51: bf16[2, 7, 6, 4], %52: f32[2, 6, 7] = attention(%49, %50, %50) {alpha = 0.5}",
    "#43 %53: bf16[2, 7, 6, 4], %54: bf16[2, 9, 3, 4], %55: bf16[2, 9, 3, 4] = attention_grad(%51, "
    "%49, %50, %50, %51, %52) {alpha = 0.5}",
    "#44 %56: bf16[2, 7, 3, 6, 4] = fill {alpha = 0}",
    "#45 %57: bf16[2, 7, 6, 4], %58: f32[2, 6, 7] = attention_packed(%56) {causal = true}",
    "#46 %59: bf16[2, 7, 3, 6, 4] = attention_packed_grad(%57, %56, %57, %58) {causal = true}",
    "#47 %60: i64[24], %61: f32[2, 7] = cross_entropy(%22, %6) {ignore = -1}",
    "#48 %62: bf16[2, 7, 5] = cross_entropy_grad(%22, %6, %61)",
    "#49 %63: i64[24] = accuracy(%22, %6) {ignore = -1}",
    "#50 %64: i64[24] = metric_add(%60, %63)",
    "#51 %65: i64[24] = grad_norm(%36) {group = -1}",
    "#52 %66: f64[8] = step_scale(%64, %65, %4)",
    "#8006 %8007: i32[1] = grad_norm(%36) {group = -1, clip_norm = -1}",
    "#8007 %8008: i32[1] = metric_add(%8007, %8007)",
    "#8008 %8009: f64[8] = step_scale(%64, %8008, %4) {clip_norm = -1}",
    "#53 %67: f32[5, 3] = sgd(%1, %36, %66, %4)",
    "#54 %68: f32[5, 3], %69: f32[5, 3] = sgd_momentum(%1, %35, %36, %66, %4)",
    "#55 %70: f32[5, 3], %71: f32[5, 3], %72: f32[5, 3] = adam(%1, %35, %35, %36, %66, %4)",
    "#190 %390: f32[5, 3], %392: f32[5, 3] = lion(%1, %35, %36, %66, %4)",
    "#189 %380: f32[5, 3], %381: f32[5, 3], %382: f32[5, 3], %383: f32[5, 3], %384: f32[5, 3] = "
    "adan(%1, %35, %35, %35, %35, %36, %66, %4)",
    "#691 %692: i64[40] = factored_sums(%1, %36, %66) {group = 2}",
    "#692 %693: f32[9] = fill {alpha = 0}",
    "#693 %694: f32[9] = factored_means(%693, %692, %66, %4) {group = 2}",
    "#694 %695: i64[24] = factored_rms(%694, %36, %66) {group = 2}",
    "#695 %696: f32[5, 3] = adafactor(%1, %36, %66, %4, %694, %692, %695) {group = 2}",
    "#696 %697: f32[5, 3], %698: f32[64] = muon_momentum(%35, %36, %66) {group = 2}",
    "#697 %699: f32[5, 3], %700: i64[160] = muon(%1, %698, %66, %4) {group = 2}",
    "#56 %73: f32[11] = fill {alpha = 0}",
    "#57 %74: bf16[11] = cast(%73)",
    "#58 %75: f32[3] = fill {alpha = 0}",
    "#59 %76: bf16[22], %77: f32[6] = unshard(%74, %75) {unit = 0, axes = (dp)}",
    "#60 %78: bf16[5] = view(%76) {offset = 32}",
    "#8000 %8000: bf16[5, 3] = copy_out(%76) {index = 0}",
    "#8002 %8002: i32[2] = amax(%73) {group = 0}",
    "#8003 %8003: f8e4m3[11] = quantize(%73, %8002) {group = 0}",
    "#8004 %8004: f8e4m3[22], %8005: f32[6] = unshard(%8003, %75) {unit = 0, axes = (dp)}",
    "#8005 %8006: bf16[5, 3] = dequantize(%8004, %8002) {index = 0}",
    "#8001 %8001: f32[22] = copy_in(%36, %21) {group = 0}",
    "#61 %79: token = reshard(%76, %77) {unit = 0}",
    "#62 %80: bf16[22], %81: f32[6] = unshard(%74, %75, %79) {unit = 0, axes = (dp)}",
    "#640 %640: bf16[11] = retain(%76) {group = 0, axes = (dp)}",
    "#641 %641: bf16[1, 7, 5] = part(%22) {count = 1, axes = (dp)}",
    "#642 %642: bf16[2, 7, 5] = all_gather_part(%641) {count = 1, axes = (dp)}",
    "#643 %643: bf16[1, 7, 5] = reduce_scatter_part(%22) {count = 1, axes = (dp)}",
    "#644 send(%22) {index = 2, stage = 1}",
    "#645 %645: bf16[2, 7, 5] = receive {index = 2}",
    "#63 %82: f32[22] = pack(%36, %21) {group = 0}",
    "#191 %391: f32[11] = gradient(%36, %21) {group = 0}",
    "#64 %83: f32[11] = reduce_scatter(%82) {axes = (dp)}",
    "#65 %84: f32[11], %85: i64[24] = all_reduce(%83, %65)",
    "#66 %86: f32[11] = accumulate(%84, %83)",
    "#660 %860: f32[11], %861: f32[5, 3] = accumulate(%84, %36, %83, %35)",
    "#661 %862: f32[5, 3] = linear_grad_weight(%22, %9, %861) {earlier = true}",
    "#662 %863: f32[5, 3], %864: f32[5] = linear_grad_weight_bias(%22, %9, %862) {earlier = true}",
    "#67 %87: token = free(%82) {unit = 0}",
    "#68 %88: bf16[2, 7, 5], %89: bf16[2, 7, 5], %90: f32[2, 7], %91: f32[2, 7] = "
    "add_layer_norm(%22, %23, %20, %21) {eps = 1e-5}",
    "#69 %92: bf16[2, 7, 5], %93: f32[5], %94: f32[5] = layer_norm_grad(%22, %40, %20, %41, %42)",
    "#70 %95: bf16[2, 7, 5], %96: f32[5], %97: f32[5] = layer_norm_grad(%22, %40, %20, %41, %42, "
    "%92)",
    "#9681 %9700: bf16[2, 7, 5], %9701: bf16[2, 7, 5], %9702: f32[2, 7] = add_rms_norm(%22, %23, "
    "%20) {eps = 1e-5}",
    "#9691 %9703: bf16[2, 7, 5], %9704: f32[5] = rms_norm_grad(%22, %40, %20, %42)",
    "#9701 %9705: bf16[2, 7, 5], %9706: f32[5] = rms_norm_grad(%22, %40, %20, %42, %92)",
    "#71 %98: bf16[2, 7, 5], %99: i64[24] = cross_entropy_both(%22, %6) {ignore = -1}",
    "#90 %200: bf16[2, 1, 5] = fill {alpha = 0}",
    "#91 %201: bf16[2, 7, 1] = fill {alpha = 0}",
    "#92 %202: bf16[2, 7, 5] = add(%200, %201)",
    "#93 %203: bf16[2, 7, 5] = div(%201, %20)",
    "#94 %204: bf16[2, 7, 5] = power(%20, %201)",
    "#95 %205: bf16[2, 7, 5] = maximum(%200, %201)",
    "#96 %206: bf16[2, 7, 5] = minimum(%200, %22)",
    "#97 %207: bf16[2, 7, 1] = less(%201, %201)",
    "#98 %208: bf16[2, 7, 5] = less_equal(%201, %22)",
    "#99 %209: bf16[2, 7, 5] = equal(%22, %22)",
    "#100 %210: bf16[2, 7, 5] = unequal(%22, %20)",
    "#101 %211: bf16[2, 7, 5] = where(%201, %200, %20)",
    "#102 %212: bf16[2, 7, 5] = keep(%22, %201)",
    "#103 %213: bf16[2, 7, 5] = drop(%22, %201)",
    "#104 %214: bf16[2, 7, 5] = div_grad(%22, %22, %20)",
    "#105 %215: bf16[2, 7, 5] = power_grad_base(%22, %200, %20)",
    "#106 %216: bf16[2, 7, 5] = power_grad_exponent(%22, %200, %22)",
    "#107 %217: bf16[2, 7, 5] = maximum_grad(%22, %200, %201)",
    "#108 %218: bf16[2, 7, 5] = expand(%200)",
    "#109 %219: f32[7, 1] = sum_to(%22)",
    "#110 %220: bf16[2, 1, 5] = sum(%22)",
    "#400 %500: bf16[2, 7, 6, 4] = rope(%49) {base = 10000, factor = 1}",
    "#401 %501: bf16[2, 7, 6, 4] = rope_grad(%500) {base = 10000, dims = 2, factor = 1}",
    "#410 %517: i32[18] = iota",
    "#402 %502: i32[2, 9] = reshape(%517)",
    "#403 %503: bf16[2, 7, 6, 4], %504: f32[2, 6, 7] = attention(%49, %50, %50, %502) {alpha = "
    "0.5}",
    "#404 %505: bf16[2, 7, 6, 4], %506: bf16[2, 9, 3, 4], %507: bf16[2, 9, 3, 4] = "
    "attention_grad(%51, %49, %50, %50, %503, %504, %502) {alpha = 0.5}",
    "#405 %508: bf16[8, 6] = fill {alpha = 0}",
    "#406 %509: bf16[6, 7, 9] = relative_bias(%508) {bidirectional = true, max_distance = 9}",
    "#407 %510: f32[8, 6] = relative_bias_grad(%509) {bidirectional = true, max_distance = 9}",
    "#408 %511: bf16[2, 7, 6, 4], %512: f32[2, 6, 7] = attention_biased(%49, %50, %50, %509, %502) "
    "{alpha = 0.5}",
    "#409 %513: bf16[2, 7, 6, 4], %514: bf16[2, 9, 3, 4], %515: bf16[2, 9, 3, 4], %516: bf16[6, 7, "
    "9] = attention_biased_grad(%51, %49, %50, %50, %509, %511, %512, %502) {alpha = 0.5}",
    "#910 %910: bf16[2, 6, 7, 9] = fill {alpha = 0}",
    "#911 %911: bf16[2, 7, 6, 4], %912: f32[2, 6, 7] = attention_biased_each(%49, %50, %50, %910, "
    "%502) {alpha = 0.5}",
    "#912 %913: bf16[2, 7, 6, 4], %914: bf16[2, 9, 3, 4], %915: bf16[2, 9, 3, 4], %916: bf16[2, 6, "
    "7, 9] = attention_biased_each_grad(%51, %49, %50, %50, %910, %911, %912, %502) {alpha = 0.5}",
    "#913 %917: bf16[6] = fill {alpha = 0}",
    "#914 %918: bf16[2, 7, 6, 4], %919: f32[2, 6, 7] = attention_sunk(%49, %50, %50, %917, %502) "
    "{alpha = 0.5}",
    "#800 %800: bf16[7, 2, 3] = transpose(%9) {order = 213}",
    "#801 %801: bf16[2, 7, 3] = transpose_grad(%800) {order = 213}",
    "#802 %802: bf16[2, 4, 3] = slice(%9) {axis = 1, start = 2, count = 4}",
    "#803 %803: bf16[2, 7, 3] = slice_grad(%802) {axis = 1, start = 2, count = 4}",
    "#804 %804: bf16[2, 11, 3] = concat(%9, %802) {axis = 1}",
    "#805 %805: bf16[2, 7, 5] = fused(%22, %20) {index = 0}",
    "#806 %806: bf16[2, 7, 2], %807: i32[2, 7, 2] = topk(%9) {count = 2}",
    "#807 %808: i32[28], %809: i32[2, 7, 2], %810: i32[4] = route(%807) {count = 3}",
    "#808 %811: bf16[28, 3] = dispatch(%9, %808, %809)",
    "#809 %812: bf16[2, 7, 3] = dispatch_grad(%811, %809)",
    "#810 %813: bf16[2, 7, 3] = combine(%811, %806, %808, %809)",
    "#811 %814: bf16[28, 3] = combine_grad_rows(%9, %806, %808)",
    "#812 %815: f32[2, 7, 2] = combine_grad_weights(%9, %811, %809)",
    "#813 %816: bf16[28, 5] = experts_linear(%811, %810, %0, %0, %0)",
    "#814 %817: bf16[28, 3] = experts_linear_grad_input(%816, %810, %0, %0, %0)",
    "#815 %818: f32[5, 3], %819: f32[5, 3], %820: f32[5, 3] = experts_linear_grad_weight(%816, "
    "%811, %810)",
    "#816 %821: i64[8] = balance(%9, %807, %6) {ignore = -100, alpha = 0.5}",
    "#817 %822: bf16[2, 7, 3] = balance_grad(%9, %821) {exponent = -5, alpha = 0.5}",
    "#818 %823: bf16[2, 1, 5] = mean(%22)",
    "#819 %824: bf16[2, 7, 5] = mean_grad(%823)",
    "#820 %825: bf16[2, 1, 1] = max(%22)",
    "#821 %826: bf16[2, 7, 1] = min(%22)",
    "#822 %827: bf16[2, 7, 5] = extreme_grad(%825, %22, %825)",
    "#823 %828: i64[25] = average(%9, %6) {ignore = -100, alpha = 0.5}",
    "#824 %829: f32[2, 7, 3] = average_grad(%828) {exponent = -5, alpha = 0.5}",
    "#825 %830: i64[24] = average_loss(%60, %828) {alpha = 0.5}",
    "#826 %831: i64[24] = count_targets(%6) {ignore = -100}",
    "#827 %832: i64[24] = loss_term(%831, %828) {alpha = 0.5}",
    "#828 %833: bf16[2, 7, 5] = at_least(%200, %201)",
    "#829 %834: bf16[2, 7, 5] = at_most(%200, %22)",
    "#830 %835: bf16[2, 7, 5] = beyond_grad(%22, %200, %201)",
    "end"};

typedef struct Fixture {
    Arena *arena;
    DiagSet set;
    Graph *g;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->set, f->arena);
    Buf lines = {0};
    for (size_t i = 0; i < ARRAY_LEN(every_op); i++)
        buf_printf(&lines, "%s%s\n", every_op[i], *every_op[i] == '#' ? " !forward -" : "");
    const char *text = arena_strndup(f->arena, lines.at, lines.n);
    f->g = graph_parse(f->arena, &f->set, "every_op", text, lines.n);
    buf_free(&lines);
    *state = f;
    return f->g ? 0 : -1;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    arena_free(f->arena);
    free(f);
    return 0;
}

/* The types of an op's operands and results. */
static void types_of(const Fixture *f, const Op *op, Type *in, Type *out) {
    for (uint32_t i = 0; i < op->n_in; i++) in[i] = f->g->values.at[op->in[i]].type;
    for (uint32_t j = 0; j < op->n_out; j++) out[j] = f->g->values.at[op->out + j].type;
}

static const char *check(const Fixture *f, const Op *op, uint32_t n_in, const Type *in,
                         uint32_t n_out, const Type *out) {
    return op_check_types(f->g, op->kind, op->attr, n_in, in, n_out, out, f->arena);
}

TEST_WITH(every_op_takes_what_fits, set_up, tear_down) {
    const Fixture *f = *state;
    bool seen[OP_COUNT] = {0};
    Type in[8], out[8];
    for (uint32_t i = 0; i < f->g->ops.n; i++) {
        const Op *op = &f->g->ops.at[i];
        types_of(f, op, in, out);
        const char *problem = check(f, op, op->n_in, in, op->n_out, out);
        if (problem) fail_msg("#%u %s: %s", i, op_info[op->kind].name, problem);
        seen[op->kind] = true;
    }
    /* What a signature says alone, signatures.py looks at. */
    static const bool has_rule[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = 0 __VA_ARGS__,
#define RULE(rule) +1
#include "ops.def"
    };
    for (int kind = 0; kind < OP_COUNT; kind++)
        if (has_rule[kind] && !seen[kind])
            fail_msg("%s is in no line of the test", op_info[kind].name);
}

/* set_* are held against the tables by rules of their own; the ends of memory take anything. */
static bool takes_anything(OpKind kind) {
    return kind == OP_set_grad || kind == OP_set_state || kind == OP_reshard || kind == OP_free ||
           kind == OP_send;
}

TEST_WITH(every_op_refuses_wrong_operands, set_up, tear_down) {
    const Fixture *f = *state;
    const Type bytes = TYPE_OF(DT_U8, 7), token = type_of(DT_TOKEN, 0, NULL);
    Type in[9], out[8];
    for (uint32_t k = 0; k < f->g->ops.n; k++) {
        const Op *op = &f->g->ops.at[k];
        types_of(f, op, in, out);
        for (uint32_t i = 0; i < op->n_in; i++) {
            Type right = in[i];
            in[i] = token;
            if (right.dtype != DT_TOKEN && !check(f, op, op->n_in, in, op->n_out, out))
                fail_msg("#%u %s takes a token for operand %u", k, op_info[op->kind].name, i);
            in[i] = bytes;
            if (!takes_anything(op->kind) && !check(f, op, op->n_in, in, op->n_out, out))
                fail_msg("#%u %s takes u8[7] for operand %u", k, op_info[op->kind].name, i);
            in[i] = right;
        }
        if (op->n_in == op_signature(op->kind)->in_min && op->n_in)
            assert_non_null(check(f, op, op->n_in - 1, in, op->n_out, out));
        if (op->n_in == op_signature(op->kind)->in_max) {
            in[op->n_in] = bytes;
            assert_non_null(check(f, op, op->n_in + 1, in, op->n_out, out));
        }
    }
}

TEST_WITH(every_op_refuses_wrong_results, set_up, tear_down) {
    const Fixture *f = *state;
    Type in[8], out[9];
    for (uint32_t k = 0; k < f->g->ops.n; k++) {
        const Op *op = &f->g->ops.at[k];
        types_of(f, op, in, out);
        out[op->n_out] = TYPE_OF(DT_F32, 2);
        assert_non_null(check(f, op, op->n_in, in, op->n_out + 1, out));
        if (op->n_out) assert_non_null(check(f, op, op->n_in, in, op->n_out - 1, out));
        for (uint32_t j = 0; j < op->n_out; j++) {
            Type right = out[j];
            out[j].dtype = DT_F64;
            bool gives_anything = op->kind == OP_fill || op->kind == OP_receive;
            if (right.dtype != DT_F64 && !gives_anything &&
                !check(f, op, op->n_in, in, op->n_out, out))
                fail_msg("#%u %s gives f64", k, op_info[op->kind].name);
            out[j] = right;
            bool free_size = gives_anything || op->kind == OP_iota || op->kind == OP_view ||
                             op->kind == OP_embedding_grad || op->kind == OP_average_grad;
            if (!right.rank || free_size) continue;
            out[j].dim[0] += 1;
            if (!check(f, op, op->n_in, in, op->n_out, out))
                fail_msg("#%u %s gives another size", k, op_info[op->kind].name);
            out[j] = right;
        }
    }
}

/* Kernels look at the last axis of the tensors that they move. */
TEST_WITH(ops_of_axes_refuse_a_scalar, set_up, tear_down) {
    const Fixture *f = *state;
    static const OpKind moves[] = {OP_transpose, OP_transpose_grad, OP_slice, OP_slice_grad,
                                   OP_split,     OP_concat,         OP_topk};
    Type x = type_of(DT_F32, 0, NULL), out[2] = {x, x};
    out[1].dtype = DT_I32;
    Attrs a = {.count = 1};
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        uint32_t n = moves[i] == OP_topk ? 2 : 1;
        if (!op_check_types(NULL, moves[i], &a, 1, &x, n, out, f->arena))
            fail_msg("%s takes a scalar", op_info[moves[i]].name);
    }
}

/* Where precision chooses, f32 and bf16 are both right; statistics and accumulators are not. */
TEST_WITH(precision_may_choose_floats, set_up, tear_down) {
    const Fixture *f = *state;
    Type x = TYPE_OF(DT_BF16, 4, 6), w = TYPE_OF(DT_F32, 6);
    Type rows = TYPE_OF(DT_F32, 4);
    Type in[3] = {x, w, w}, out[3] = {x, rows, rows};
    Attrs a = {0};
    assert_null(op_check_types(NULL, OP_layer_norm, &a, 3, in, 3, out, f->arena));
    out[0].dtype = DT_F32;
    assert_null(op_check_types(NULL, OP_layer_norm, &a, 3, in, 3, out, f->arena));
    out[1].dtype = DT_BF16;
    assert_non_null(op_check_types(NULL, OP_layer_norm, &a, 3, in, 3, out, f->arena));
    Type y = x;
    y.dtype = DT_F32;
    assert_non_null(op_check_types(NULL, OP_reshape, &a, 1, &x, 1, &y, f->arena));
    assert_null(op_check_types(NULL, OP_scale, &a, 1, &x, 1, &y, f->arena));
    assert_non_null(op_check_types(NULL, OP_accumulate, &a, 2, (Type[]){y, y}, 1, &x, f->arena));
    assert_non_null(op_check_types(NULL, OP_metric_add, &a, 1, &x, 1, &y, f->arena));
}

TEST_WITH(sizes_are_bounded, set_up, tear_down) {
    const Fixture *f = *state;
    int64_t large = (int64_t)1 << 40;
    Type x = TYPE_OF(DT_F32, large, 1), w = TYPE_OF(DT_F32, large, 1);
    Type out;
    uint32_t n = 1;
    Attrs a = {0};
    const char *problem = op_infer(NULL, OP_linear, &a, 2, (Type[]){x, w}, &n, &out, f->arena);
    assert_string_equal(problem, "the result f32[1099511627776, 1099511627776] is too large");
    a.axis = 0;
    assert_int_equal(op_results_max(OP_split, &a, 1, &x), 0);
    n = 0;
    assert_non_null(op_infer(NULL, OP_split, &a, 1, &x, &n, &out, f->arena));
    assert_true(type_sound(&x));
    x.dim[1] = 1024;
    assert_false(type_sound(&x));
    x.dim[1] = -1;
    assert_false(type_sound(&x));
}

TEST_WITH(messages_speak_of_operands, set_up, tear_down) {
    const Fixture *f = *state;
    Type x = TYPE_OF(DT_F32, 2, 3, 5), w = TYPE_OF(DT_F32, 4, 6);
    Type b = TYPE_OF(DT_F32, 2, 3), ids = TYPE_OF(DT_F32, 2);
    Type out[2];
    uint32_t n = 1;
    Attrs a = {0};
    assert_string_equal(op_infer(NULL, OP_linear, &a, 2, (Type[]){x, w}, &n, out, f->arena),
                        "w f32[4, 6] has D = 6, x f32[2, 3, 5] has D = 5");
    assert_string_equal(op_infer(NULL, OP_add, &a, 2, (Type[]){x, b}, &n, out, f->arena),
                        "f32[2, 3, 5] and f32[2, 3] do not broadcast: counted from the last axis, "
                        "sizes must be equal or 1");
    assert_string_equal(op_infer(NULL, OP_embedding, &a, 2, (Type[]){w, ids}, &n, out, f->arena),
                        "ids must be i32, not f32[2]");
    n = 2;
    Type q = TYPE_OF(DT_F32, 2, 7, 6, 4), k = TYPE_OF(DT_F32, 2, 7, 4, 4);
    assert_string_equal(op_infer(NULL, OP_attention, &a, 3, (Type[]){q, k, k}, &n, out, f->arena),
                        "6 heads of q cannot share 4 heads of k evenly");
    q.dim[3] = k.dim[3] = MOST_HEAD + 1;
    assert_string_equal(op_infer(NULL, OP_attention, &a, 3, (Type[]){q, q, q}, &n, out, f->arena),
                        "a head of attention is 1 to 256 wide, not 257");
    Type packed = TYPE_OF(DT_F32, 2, 7, 3, 6, MOST_HEAD + 1);
    assert_string_equal(op_infer(NULL, OP_attention_packed, &a, 1, &packed, &n, out, f->arena),
                        "a head of attention is 1 to 256 wide, not 257");
}

/* Where the names of a result's axes come from. */
TEST(axes_have_an_origin) {
    Type x = TYPE_OF(DT_F32, 2, 3, 5), w = TYPE_OF(DT_F32, 4, 5);
    Type in[2] = {x, w};
    AxisOrigin at = op_axis_origin(OP_linear, 2, in, 0, 3, 1);
    assert_true(at.operand == 0 && at.axis == 1);
    at = op_axis_origin(OP_linear, 2, in, 0, 3, 2);
    assert_true(at.operand == 1 && at.axis == 0);
    Type ids = TYPE_OF(DT_I32, 7), table[2] = {w, ids};
    at = op_axis_origin(OP_embedding, 2, table, 0, 2, 0);
    assert_true(at.operand == 1 && at.axis == 0);
    at = op_axis_origin(OP_embedding, 2, table, 0, 2, 1);
    assert_true(at.operand == 0 && at.axis == 1);
    Type norm[2] = {x, TYPE_OF(DT_F32, 5)};
    at = op_axis_origin(OP_rms_norm, 2, norm, 0, 3, 2);
    assert_true(at.operand == 0 && at.axis == 2);
    Type q = TYPE_OF(DT_F32, 2, 7, 6, 4), qkv[3] = {q, q, q};
    at = op_axis_origin(OP_attention, 3, qkv, 1, 3, 2);
    assert_true(at.operand == 0 && at.axis == 1);
    assert_int_equal(op_axis_origin(OP_split, 1, &x, 0, 2, 0).operand, -1);
    assert_int_equal(op_index_limit(OP_embedding, 2, table, 1), 4);
    assert_int_equal(op_index_limit(OP_embedding, 2, table, 0), 0);
}

/* ---- costs ---- */

TEST(flops_are_those_of_the_formulas) {
    Attrs a = {0};
    Type x = TYPE_OF(DT_F32, 2, 5, 3), w = TYPE_OF(DT_F32, 7, 3);
    Type b = TYPE_OF(DT_F32, 7), y = TYPE_OF(DT_F32, 2, 5, 7);
    assert_int_equal(op_flops(OP_linear, &a, 2, (Type[]){x, w}, 1, &y), 2 * 10 * 3 * 7);
    assert_int_equal(op_flops(OP_linear, &a, 3, (Type[]){x, w, b}, 1, &y), 2 * 10 * 3 * 7 + 70);
    assert_int_equal(op_flops(OP_linear_grad_input, &a, 2, (Type[]){y, w}, 1, &x), 420);
    assert_int_equal(op_flops(OP_linear_grad_weight, &a, 2, (Type[]){y, x}, 1, &w), 420);
    assert_int_equal(op_flops(OP_linear_gelu, &a, 3, (Type[]){x, w, b}, 2, (Type[]){y, y}),
                     2 * 10 * 3 * 7 + 70 + 8 * 70);
    assert_int_equal(op_flops(OP_linear_grad_input_gelu, &a, 3, (Type[]){y, w, x}, 1, &x),
                     420 + 8 * 30);
    assert_int_equal(op_flops(OP_linear_grad_weight_bias, &a, 2, (Type[]){y, x}, 2, (Type[]){w, b}),
                     420 + 70);
    assert_int_equal(op_flops(OP_add, &a, 2, (Type[]){y, b}, 1, &y), 70);
    assert_int_equal(op_flops(OP_reshape, &a, 1, &x, 1, &x), 0);
    Type q = TYPE_OF(DT_F32, 2, 5, 6, 4), k = TYPE_OF(DT_F32, 2, 8, 3, 4);
    Type lse = TYPE_OF(DT_F32, 2, 6, 5);
    Type in[6] = {q, k, k}, out[3] = {q, lse};
    assert_int_equal(op_flops(OP_attention, &a, 3, in, 2, out), (4 * 4 + 8) * 2 * 6 * 5 * 8);
    a.causal = 1; /* position t of 5 sees t + 1 of 8 */
    assert_int_equal(op_flops(OP_attention, &a, 3, in, 2, out), (4 * 4 + 8) * 2 * 6 * 15);
    a.window = 2; /* one key, then two of them four times */
    assert_int_equal(op_flops(OP_attention, &a, 3, in, 2, out), (4 * 4 + 8) * 2 * 6 * 9);
    a.causal = 0; /* two keys, then three of them four times */
    assert_int_equal(op_flops(OP_attention, &a, 3, in, 2, out), (4 * 4 + 8) * 2 * 6 * 14);
    a = (Attrs){.causal = 1};
    Type packed = TYPE_OF(DT_F32, 2, 5, 3, 6, 4);
    assert_int_equal(op_flops(OP_attention_packed, &a, 1, &packed, 2, out),
                     (4 * 4 + 8) * 2 * 6 * 15);
    Type grad_in[6] = {q, q, k, k, q, lse}, grad_out[3] = {q, k, k};
    assert_int_equal(op_flops(OP_attention_grad, &a, 6, grad_in, 3, grad_out),
                     (10 * 4 + 12) * 2 * 6 * 15);
    Type far = TYPE_OF(DT_F32, 1, (int64_t)1 << 40, 1, 1);
    assert_true(op_flops(OP_attention, &a, 3, (Type[]){far, far, far}, 2, (Type[]){far, lse}) ==
                (4 + 8) * (0x1p79 + 0x1p39));
}

TEST(product_flops_are_those_of_the_model) {
    Attrs a = {.causal = 1};
    Type x = TYPE_OF(DT_F32, 10, 3), w = TYPE_OF(DT_F32, 7, 3);
    Type b = TYPE_OF(DT_F32, 7), y = TYPE_OF(DT_F32, 10, 7);
    assert_int_equal(op_product_flops(OP_linear_gelu, &a, 3, (Type[]){x, w, b}, 2, (Type[]){y, y}),
                     420);
    assert_int_equal(op_product_flops(OP_linear_grad_input_gelu, &a, 3, (Type[]){y, w, x}, 1, &x),
                     420);
    assert_int_equal(op_product_flops(OP_linear_grad_weight, &a, 3, (Type[]){y, x, w}, 1, &w), 420);
    assert_int_equal(op_product_flops(OP_add, &a, 2, (Type[]){y, b}, 1, &y), 0);
    Type q = TYPE_OF(DT_F32, 2, 5, 6, 4), k = TYPE_OF(DT_F32, 2, 8, 3, 4);
    Type lse = TYPE_OF(DT_F32, 2, 6, 5);
    Type in[3] = {q, k, k}, out[2] = {q, lse};
    assert_int_equal(op_product_flops(OP_attention, &a, 3, in, 2, out), 4 * 4 * 2 * 6 * 15);
    Type grad_in[6] = {q, q, k, k, q, lse}, grad_out[3] = {q, k, k};
    assert_int_equal(op_product_flops(OP_attention_grad, &a, 6, grad_in, 3, grad_out),
                     8 * 4 * 2 * 6 * 15);
}

TEST(bytes_are_read_and_written_once) {
    Attrs a = {0};
    Type w = TYPE_OF(DT_BF16, 1000, 8), ids = TYPE_OF(DT_I32, 3);
    Type rows = TYPE_OF(DT_BF16, 3, 8), bias = TYPE_OF(DT_F32, 8);
    assert_int_equal(op_bytes(OP_embedding, &a, 2, (Type[]){w, ids}, 1, &rows), 2 * 48);
    assert_int_equal(op_bytes(OP_add, &a, 2, (Type[]){rows, bias}, 1, &rows), 48 + 32 + 48);
    assert_int_equal(op_bytes(OP_reshape, &a, 1, &rows, 1, &rows), 0);
    Type grad[] = {rows, ids, w};
    assert_int_equal(op_bytes(OP_embedding_grad, &a, 3, grad, 1, &w), 48 + 12 + 2 * 48);
    assert_int_equal(op_bytes(OP_embedding_grad, &a, 2, grad, 1, &w), 48 + 12 + 2 * 48 + 16000);
}

TEST(workspaces_follow_shape_and_dtype) {
    Attrs a = {0};
    Type x = TYPE_OF(DT_F32, 10, 3), w = TYPE_OF(DT_F32, 7, 3);
    Type y = TYPE_OF(DT_F32, 10, 7);
    Type in[2] = {x, w};
    assert_int_equal(op_workspace(OP_linear, DEVICE_CPU, &a, 2, in, 1, &y), 0);
    assert_int_equal(op_workspace(OP_linear, DEVICE_CUDA, &a, 2, in, 1, &y), 32 << 20);
    in[0].dtype = in[1].dtype = DT_BF16;
    assert_int_equal(op_workspace(OP_linear, DEVICE_CPU, &a, 2, in, 1, &y), 0);
    /* 120 and 84 bytes in f32, each to 128 */
    Type starts = TYPE_OF(DT_I32, 3), expert[4] = {in[0], starts, in[1], in[1]};
    assert_int_equal(op_workspace(OP_experts_linear, DEVICE_CPU, &a, 4, expert, 1, &y), 128 + 128);
    /* a part in f32 for every 16 rows, at most 256 of them */
    Type sum = TYPE_OF(DT_F32, 7), rows = TYPE_OF(DT_F32, 40, 7);
    assert_int_equal(op_workspace(OP_sum_leading, DEVICE_CUDA, &a, 1, &rows, 1, &sum), 3 * 7 * 4);
    rows.dim[0] = 16 * 300;
    assert_int_equal(op_workspace(OP_sum_leading, DEVICE_CUDA, &a, 1, &rows, 1, &sum), 256 * 7 * 4);
    assert_int_equal(op_workspace(OP_relu, DEVICE_CPU, &a, 1, &y, 1, &y), 0);
}

TEST_WITH(rows_may_have_a_pitch, set_up, tear_down) {
    const Fixture *f = *state;
    Type y = TYPE_OF(DT_BF16, 2, 5, 7), wide = y;
    assert_int_equal(type_pitch(&y), 7);
    wide.pitch = 8;
    assert_int_equal(type_elements(&wide), 70);
    assert_int_equal(type_bytes(&wide), 160);
    assert_string_equal(type_text(f->arena, &wide), "bf16[2, 5, 7:8]");
    assert_true(type_sound(&wide) && !type_equal(&wide, &y));
    wide.pitch = 7; /* is written as 0 */
    assert_false(type_sound(&wide));
    Type scalar = {.dtype = DT_F32, .pitch = 2};
    assert_false(type_sound(&scalar));
}

/* ---- names and memory ---- */

TEST(names_lead_back) {
    for (int i = 0; i < OP_COUNT; i++) assert_int_equal(op_by_name(op_info[i].name), i);
    for (int i = DT_NONE + 1; i < DT_COUNT; i++) assert_int_equal(dtype_by_name(dtype_name(i)), i);
    assert_int_equal(op_by_name("relo"), OP_COUNT);
    assert_int_equal(dtype_by_name("?"), DT_NONE);
    assert_false(op_info[OP_param].launched);
    assert_true(op_info[OP_rms_norm].launched);
    assert_string_equal(phase_name(PHASE_COUNT), "?");
}

TEST(results_know_whose_memory_they_take) {
    Op adam = {.kind = OP_adam, .n_in = 6, .n_out = 3}, add = {.kind = OP_add, .n_in = 2};
    Op many = {.kind = OP_all_reduce, .n_in = 40, .n_out = 40}, view = {.kind = OP_view, .n_in = 1};
    Op sum = {.kind = OP_linear_grad_weight, .n_in = 3},
       first = {.kind = OP_linear_grad_weight, .n_in = 2};
    for (int j = 0; j < 3; j++) assert_int_equal(op_alias_must(&adam, (uint32_t)j), j);
    assert_int_equal(op_alias_must(&many, 39), 39);
    assert_int_equal(op_alias_must(&add, 0), -1);
    assert_int_equal(op_alias_must(&view, 0), 0);
    assert_int_equal(op_alias_must(&sum, 0), 2);
    assert_int_equal(op_alias_must(&first, 0), -1);
}

RUN_TESTS(NULL, NULL)
