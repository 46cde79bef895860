/* The picture of memory: which category holds which part of the arena when, drawn in characters.
 *
 * Time runs to the right, a column for a few instructions; addresses go up, a row for an equal part
 * of the arena. If more than half of a cell is held (in bytes times instructions), the cell shows
 * the category that holds most of it, otherwise a dot. Values much smaller than a row are
 * invisible; the table of the peak has the numbers.
 */
#include <string.h>

#include "dump.h"

enum { ROWS = 16, COLUMNS = 100 };

typedef struct Strip {
    View *v;
    const PlanProgram *program;
    uint64_t columns, arena;
    double held[ROWS][COLUMNS][CATEGORY_COUNT]; /* bytes * instructions */
} Strip;

static uint64_t column_begin(const Strip *s, uint64_t c) {
    return c * s->program->n_instr / s->columns;
}

static uint64_t row_begin(const Strip *s, uint64_t r) {
    return s->arena / ROWS * r + s->arena % ROWS * r / ROWS;
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t from, uint64_t to) {
    uint64_t low = MAX(a, from), high = MIN(b, to);
    return low < high ? high - low : 0;
}

/* Instructions [first, end) of the program hold [from, to). */
static void add_held(Strip *s, Category category, uint64_t first, uint64_t end, uint64_t from,
                     uint64_t to) {
    uint64_t column = first * s->columns / s->program->n_instr;
    if (column) column--;
    for (uint64_t c = column; c < s->columns && column_begin(s, c) < end; c++) {
        uint64_t time = overlap(first, end, column_begin(s, c), column_begin(s, c + 1));
        for (uint64_t r = 0; time && r < ROWS && row_begin(s, r) < to; r++)
            s->held[r][c][category] +=
                (double)time * (double)overlap(from, to, row_begin(s, r), row_begin(s, r + 1));
    }
}

static void hold_everything(Strip *s) {
    uint64_t base = s->program->first_instr;
    Holders all = lives_holders(&s->v->lives, s->program, s->v->a);
    for (const Holder *h = all.at; h < all.at + all.n; h++)
        add_held(s, h->category, h->first - base, h->last - base + 1, h->at, h->at + h->bytes);
}

static char mark_of(const Strip *s, uint64_t r, uint64_t c) {
    double all = 0, most = 0;
    char mark = '.';
    for (int k = 0; k < CATEGORY_COUNT; k++) {
        all += s->held[r][c][k];
        if (s->held[r][c][k] <= most) continue;
        most = s->held[r][c][k];
        mark = category_info[k].mark;
    }
    double cell = (double)(column_begin(s, c + 1) - column_begin(s, c)) *
                  (double)(row_begin(s, r + 1) - row_begin(s, r));
    return 2 * all > cell ? mark : '.';
}

/* The line below: where each phase begins, and the peak. */
static void put_axis(const Strip *s) {
    char line[COLUMNS + 16];
    View *v = s->v;
    memset(line, ' ', sizeof line);
    uint64_t free_from = 0, peak = lives_peak(v->p) - s->program->first_instr;
    for (int phase = -1, c = 0; c < (int)s->columns; c++) {
        const PlanInstr *in = &v->p->instrs[s->program->first_instr + column_begin(s, (uint64_t)c)];
        size_t n = strlen(phase_name(in->phase));
        if ((int)in->phase <= phase || (uint64_t)c < free_from) continue;
        phase = in->phase;
        line[c] = '|';
        memcpy(line + c + 1, phase_name(phase), n);
        free_from = (uint64_t)c + n + 2;
    }
    size_t end = s->columns + 12;
    while (end && line[end - 1] == ' ') end--;
    buf_printf(v->out, "%13s%.*s\n", "", (int)end, line);
    if (peak >= s->program->n_instr) return;
    uint64_t c = peak * s->columns / s->program->n_instr;
    while (c + 1 < s->columns && column_begin(s, c + 1) <= peak) c++;
    const char *what = arena_printf(v->a, "the peak, #%llu", (Llu)lives_peak(v->p));
    if (c > strlen(what) + 1)
        buf_printf(v->out, "%13s%*s ^\n", "", (int)c - 1, what);
    else
        buf_printf(v->out, "%13s%*s^ %s\n", "", (int)c, "", what);
}

void view_strip(View *v, const PlanProgram *program) {
    Strip *s = arena_new_of(v->a, Strip);
    *s = (Strip){.v = v, .program = program, .arena = v->p->settings->arena_bytes};
    s->columns = MIN(program->n_instr, COLUMNS);
    if (!s->columns || !s->arena) return;
    hold_everything(s);
    buf_printf(v->out, "memory by address over the instructions of %s (a column is %.1f of them)\n",
               program_name((ProgramKind)program->kind),
               (double)program->n_instr / (double)s->columns);
    bool seen[CATEGORY_COUNT] = {0};
    for (uint64_t r = ROWS; r-- > 0;) {
        buf_printf(v->out, "  %10s ", amount_bytes(v->a, row_begin(s, r + 1)));
        for (uint64_t c = 0; c < s->columns; c++) {
            char mark = mark_of(s, r, c);
            buf_write(v->out, &mark, 1);
            for (int k = 0; k < CATEGORY_COUNT; k++) seen[k] |= mark == category_info[k].mark;
        }
        buf_printf(v->out, "\n");
    }
    put_axis(s);
    buf_printf(v->out, "  %10s", "");
    for (int k = 0; k < CATEGORY_COUNT; k++)
        if (seen[k]) buf_printf(v->out, " %c %s,", category_info[k].mark, category_info[k].words);
    buf_printf(v->out, " . free\n\n");
}
