/* mlm and span_corruption: samples compared with the tokens from which they were made.
 */
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "ir.h"
#include "test.h"

enum { VOCAB = 50, SAMPLES = 300, MOST = 128, IGNORED = -100, MASK = 7 };

/* A plan with one source of made-up tokens and its fields; up to four of up to 128 tokens. */
typedef struct Source {
    char strings[256];
    PlanSource source;
    PlanField fields[4];
    PlanSettings settings;
    Plan plan;
    Dataset *d;
    int32_t slot[4 * MOST];
} Source;

static PlanString add_string(Source *s, size_t *end, const char *text) {
    PlanString at = (PlanString)*end;
    strcpy(s->strings + at, text);
    *end += strlen(text) + 1;
    return at;
}

static void open_source(Source *s, PlanSource source, const char *const *names,
                        const int64_t *width) {
    size_t end = 1;
    char error[ERROR_BYTES];
    memset(s, 0, sizeof *s);
    s->source = source;
    s->source.name = add_string(s, &end, "train");
    s->source.kind = SOURCE_SYNTHETIC_TOKENS;
    s->source.samples = SAMPLES;
    s->source.vocab = VOCAB;
    s->plan = (Plan){.strings = s->strings,
                     .settings = &s->settings,
                     .sources = &s->source,
                     .n_sources = 1,
                     .fields = s->fields};
    s->settings.length = width[0];
    for (; names[s->plan.n_fields]; s->plan.n_fields++) {
        uint64_t k = s->plan.n_fields;
        s->fields[k].name = add_string(s, &end, names[k]);
        s->fields[k].type = type_of(DT_I32, 2, (int64_t[]){1, width[k]});
        s->fields[k].staging = k * MOST * 4;
    }
    s->plan.n_strings = sizeof s->strings;
    if (dataset_open(&s->plan, "train", NULL, 0, &s->d, error)) fail_msg("%s", error);
}

static const int32_t *read_again(Source *s, int64_t k, int64_t epoch, int field) {
    char error[ERROR_BYTES];
    SampleAt at = {k, epoch};
    memset(s->slot, 0x55, sizeof s->slot);
    assert_int_equal(dataset_read(s->d, &at, 1, 0, (uint8_t *)s->slot, error), 0);
    return s->slot + field * MOST;
}

static const int32_t *read_field(Source *s, int64_t k, int field) {
    return read_again(s, k, 0, field);
}

/* The tokens that a sample is made of. */
static void raw_tokens(int64_t n, int64_t k, int32_t *to) {
    Source plain;
    open_source(&plain, (PlanSource){0}, (const char *const[]){"inputs", NULL}, &n);
    memcpy(to, read_field(&plain, k, 0), sizeof *to * (size_t)n);
    dataset_close(plain.d);
}

TEST(masked_tokens_are_the_labels) {
    enum { T = 40, CHOSEN = 6 };
    Source s;
    int32_t raw[T];
    int masked = 0, same = 0, places[T] = {0};
    open_source(&s,
                (PlanSource){.corruption = CORRUPTION_MLM, .raw = T, .noise = CHOSEN, .mask = MASK},
                (const char *const[]){"labels", "inputs", "mask", "segments", NULL},
                (const int64_t[]){T, T, T, T});
    for (int64_t k = 0; k < SAMPLES; k++) {
        raw_tokens(T, k, raw);
        const int32_t *labels = read_field(&s, k, 0), *inputs = labels + MOST;
        int chosen = 0;
        for (int i = 0; i < T; i++) {
            assert_true(labels[2 * MOST + i] == 1 && labels[3 * MOST + i] == 0);
            assert_true(labels[i] == raw[i] || (labels[i] == IGNORED && inputs[i] == raw[i]));
            assert_true(inputs[i] >= 0 && inputs[i] < VOCAB);
            if (labels[i] == IGNORED) continue;
            chosen++;
            places[i]++;
            masked += inputs[i] == MASK;
            same += inputs[i] == raw[i];
        }
        assert_int_equal(chosen, CHOSEN);
    }
    /* of 1800: 80 %, and 10 % and 1 in 50 of another 10 %, within five standard deviations */
    assert_true(abs(masked - 1440) < 90 + 36 && abs(same - 184) < 65);
    for (int i = 0; i < T; i++) assert_true(abs(places[i] - SAMPLES * CHOSEN / T) < 32);
    dataset_close(s.d);
}

/* Writes the sample's tokens again from source and labels; the number of spans. */
static int restore(const int32_t *source, const int32_t *labels, int32_t mark, int32_t *to) {
    int spans = 0, at = 0, label = 0;
    for (int i = 0; source[i] != 1 + VOCAB; i++) {
        if (source[i] != mark - spans) {
            to[at++] = source[i];
            continue;
        }
        assert_int_equal(labels[label++], mark - spans);
        spans++;
        while (labels[label] != mark - spans && labels[label] != 1 + VOCAB)
            to[at++] = labels[label++];
    }
    assert_int_equal(labels[label], 1 + VOCAB);
    return spans;
}

TEST(spans_and_the_rest_are_the_sample) {
    enum { RAW = 70, NOISE = 11, SPANS = 4, S = RAW - NOISE + SPANS + 1, T = NOISE + SPANS + 1 };
    Source s;
    int32_t raw[RAW], again[RAW + SPANS];
    open_source(&s,
                (PlanSource){.corruption = CORRUPTION_SPANS,
                             .raw = RAW,
                             .noise = NOISE,
                             .spans = SPANS,
                             .mask = 2 * VOCAB,
                             .end = VOCAB + 1},
                (const char *const[]){"source", "target", "labels", NULL},
                (const int64_t[]){S, T, T});
    int different = 0;
    for (int64_t k = 0; k < SAMPLES; k++) {
        raw_tokens(RAW, k, raw);
        const int32_t *source = read_field(&s, k, 0), *target = source + MOST,
                      *labels = target + MOST;
        assert_int_equal(restore(source, labels, 2 * VOCAB, again), SPANS);
        assert_memory_equal(raw, again, sizeof raw);
        assert_true(target[0] == 0 && source[0] < VOCAB);
        assert_memory_equal(target + 1, labels, sizeof *labels * (T - 1));
        different += source[5] == 2 * VOCAB;
    }
    assert_true(different > 0 && different < SAMPLES / 2); /* spans begin at other places */
    dataset_close(s.d);
}

/* The samples of an epoch follow on those before it in the order of draws. */
TEST(each_epoch_draws_anew) {
    enum { T = 40, CHOSEN = 6 };
    Source s;
    int32_t first[T], raw[T];
    int same = 0;
    open_source(&s,
                (PlanSource){.corruption = CORRUPTION_MLM, .raw = T, .noise = CHOSEN, .mask = MASK},
                (const char *const[]){"labels", "inputs", NULL}, (const int64_t[]){T, T});
    for (int64_t k = 0; k < SAMPLES; k++) {
        raw_tokens(T, k, raw);
        memcpy(first, read_field(&s, k, 0), sizeof first);
        const int32_t *labels = read_again(&s, k, 1, 0), *inputs = labels + MOST;
        for (int i = 0; i < T; i++) {
            assert_true(labels[i] == raw[i] || (labels[i] == IGNORED && inputs[i] == raw[i]));
            same += labels[i] != IGNORED && first[i] != IGNORED;
        }
    }
    /* of 1800 places, 6 in 40 are chosen in both by chance: within five standard deviations */
    assert_true(abs(same - 270) < 76);
    dataset_close(s.d);
}

/* Consumers of field 0: a table of 40 rows, then, if asked for, a view of it as targets of logits
 * for 30, of which -7 is ignored. */
static void add_consumers(Source *s, int64_t rows, bool targets, int64_t ignore) {
    static PlanInstr instr[5];
    static PlanValue value[5];
    static const uint32_t operands[] = {1, 0, 0, 3, 2};
    instr[0] = (PlanInstr){.op = OP_field, .attr.index = 0};
    instr[1] = (PlanInstr){.op = OP_param};
    instr[2] = (PlanInstr){.op = OP_reshape, .first_in = 2, .n_in = 1};
    instr[3] = (PlanInstr){.op = OP_embedding, .n_in = 2};
    instr[4] = (PlanInstr){.op = OP_cross_entropy, .first_in = 3, .n_in = 2, .attr.ignore = ignore};
    for (uint32_t v = 0; v < 4; v++) value[v].def = v;
    value[0].type = value[2].type = type_of(DT_I32, 2, (int64_t[]){1, 8});
    value[1].type = type_of(DT_F32, 2, (int64_t[]){rows, 4});
    value[3].type = type_of(DT_F32, 3, (int64_t[]){1, 8, 30});
    s->plan.instrs = instr;
    s->plan.n_instrs = targets ? 5 : 4;
    s->plan.values = value;
    s->plan.n_values = 4;
    s->plan.operands = operands;
    s->plan.n_operands = ARRAY_LEN(operands);
}

TEST(a_field_may_hold_what_all_its_consumers_take) {
    Source s;
    FieldRange r;
    open_source(&s, (PlanSource){0}, (const char *const[]){"inputs", NULL}, (const int64_t[]){8});
    add_consumers(&s, 40, false, 0);
    field_ranges(&s.plan, &r);
    assert_true(r.below == 40 && !r.ignored);
    add_consumers(&s, 40, true, -7); /* the table does not ignore it */
    field_ranges(&s.plan, &r);
    assert_true(r.below == 30 && !r.ignored);
    ((PlanInstr *)s.plan.instrs)[3].op = OP_reshape; /* nor is there a table */
    field_ranges(&s.plan, &r);
    assert_true(r.below == 30 && r.ignored && r.ignore == -7);
    dataset_close(s.d);
}

/* Ids that a source makes or writes by itself, and those that the model takes. */
TEST(ids_of_the_source_fit_the_model) {
    static const struct {
        int corruption;
        int64_t vocab, words, mask, end;
        const char *says; /* NULL: they fit */
    } row[] = {
        {CORRUPTION_NONE, 40, 0, 0, 0, NULL},
        {CORRUPTION_NONE, 41, 0, 0, 0,
         "generates ids 0 to 40 in field inputs, but the model's range is 0 to 39"},
        {CORRUPTION_MLM, 40, 40, 39, 0, NULL},
        {CORRUPTION_MLM, 40, 41, 39, 0,
         "writes id 40 into field inputs, but the model's range is 0 to 39"},
        {CORRUPTION_MLM, 40, 40, 40, 0, "writes id 40 into field inputs"},
        {CORRUPTION_MLM, 41, 40, 39, 0, "generates ids 0 to 40 in field inputs"},
        {CORRUPTION_SPANS, 40, 0, 39, 38, NULL},
        {CORRUPTION_SPANS, 40, 0, 38, 39, NULL},
        {CORRUPTION_SPANS, 40, 0, 39, 40, "writes id 40 into field source"},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        Source s;
        char error[ERROR_BYTES] = "";
        bool spans = row[i].corruption == CORRUPTION_SPANS;
        open_source(&s, (PlanSource){0}, (const char *const[]){"inputs", NULL},
                    (const int64_t[]){8});
        dataset_close(s.d);
        if (spans) strcpy(s.strings + s.fields[0].name, "source");
        s.source.vocab = row[i].vocab;
        s.source.corruption = (uint32_t)row[i].corruption;
        s.source.raw = spans ? 7 : 8;
        s.source.noise = 1;
        s.source.spans = spans;
        s.source.mask = row[i].mask;
        s.source.end = row[i].end;
        s.source.words = row[i].words;
        add_consumers(&s, 40, false, 0);
        int code = dataset_open(&s.plan, "train", NULL, 0, &s.d, error);
        assert_int_equal(code, row[i].says ? EXIT_USER : 0);
        if (code) assert_non_null(strstr(error, row[i].says));
        dataset_close(s.d);
    }
}

RUN_TESTS(NULL, NULL)
