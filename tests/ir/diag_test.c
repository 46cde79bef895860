/* Rendering of diagnostics: the whole text is compared. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include <jansson.h>

#include "diag.h"

typedef struct Fixture {
    Arena *arena;
    DiagSet set;
    Buf out;
} Fixture;

static void write_buffer(void *context, const char *text, size_t n) { buf_write(context, text, n); }

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->set, f->arena);
    f->set.write = write_buffer;
    f->set.write_context = &f->out;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    buf_free(&f->out);
    arena_free(f->arena);
    free(f);
    return 0;
}

static uint32_t add(Fixture *f, const char *name, const char *text) {
    return diag_add_file(&f->set, name, text, strlen(text));
}

static void expect(Fixture *f, const char *text) {
    char *got = buf_take(&f->out);
    assert_string_equal(got, text);
    free(got);
}

TEST_WITH(one_line_with_note_and_help, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "dir/m.fsd", "D = 4\n\n\n\n\n\n\n\n\n  y = as(x, [B, T])\r\nz\n");
    Diag d = diag_at(&f->set, E_shape, (Span){file, 10, 7, 10, 20}, "cannot make [%s]", "B, T");
    diag_note(&d, (Span){file, 1, 1, 1, 2}, "D is declared here");
    diag_note(&d, (Span){0}, "two lines\nof it");
    diag_help(&d, "write [B, T, D]");
    diag_emit(&d);
    expect(f, "error[E0204]: cannot make [B, T]\n"
              "  --> dir/m.fsd:10:7\n"
              "   |\n"
              "10 |   y = as(x, [B, T])\n"
              "   |       ^^^^^^^^^^^^^\n"
              "   |\n"
              "   = note: two lines\n"
              "           of it\n"
              "   = help: write [B, T, D]\n"
              "note: D is declared here\n"
              "  --> dir/m.fsd:1:1\n"
              "   |\n"
              " 1 | D = 4\n"
              "   | ^\n"
              "\n");
    assert_int_equal(f->set.errors, 1);
    assert_int_equal(f->set.warnings, 0);
    assert_string_equal(f->set.files.at[file].base, "m.fsd");
}

TEST_WITH(without_a_place, set_up, tear_down) {
    Fixture *f = *state;
    Diag d = diag_at(&f->set, W_no_effect, (Span){0}, "no mesh");
    diag_help(&d, "pass -n");
    diag_emit(&d);
    expect(f, "warning[W0302]: no mesh\n"
              "  = help: pass -n\n"
              "\n");
    assert_int_equal(f->set.errors, 0);
    assert_int_equal(f->set.warnings, 1);
}

TEST_WITH(several_lines, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m", "x = add(\n    a,\n\n)\n");
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 5, 4, 2}, "m");
    diag_emit(&d);
    expect(f, "error[E0101]: m\n"
              " --> m:1:5\n"
              "  |\n"
              "1 |   x = add(\n"
              "  |  _____^\n"
              "2 | |     a,\n"
              "3 | |\n"
              "4 | | )\n"
              "  | |_^\n"
              "\n");
}

TEST_WITH(the_middle_of_many_lines_is_left_out, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 2, 1, 9, 2}, "m");
    diag_emit(&d);
    expect(f, "error[E0101]: m\n"
              " --> m:2:1\n"
              "  |\n"
              "2 |   1\n"
              "  |  _^\n"
              "3 | | 2\n"
              "4 | | 3\n"
              "...\n"
              "8 | | 7\n"
              "9 | | 8\n"
              "  | |_^\n"
              "\n");
}

TEST_WITH(tabs_and_wide_characters_keep_the_caret_in_place, set_up, tear_down) {
    Fixture *f = *state;
    /* a tab, two e-acute (two bytes, one column), one wide character (three bytes, two columns) */
    uint32_t file = add(f, "m", "\t\xc3\xa9\xc3\xa9\xe6\x96\x87 bad\n");
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 10, 1, 13}, "m");
    diag_emit(&d);
    expect(f, "error[E0101]: m\n"
              " --> m:1:10\n"
              "  |\n"
              "1 |     \xc3\xa9\xc3\xa9\xe6\x96\x87 bad\n"
              "  |          ^^^\n"
              "\n");
}

TEST_WITH(bytes_that_are_not_text_are_replaced, set_up, tear_down) {
    Fixture *f = *state;
    static const char text[] = "a\xff\x1b[31m\0b\xe2\x80\xae";
    uint32_t file = diag_add_file(&f->set, "n\x1b", text, sizeof text - 1);
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 2, 1, 3}, "found \x1b and \xff");
    diag_emit(&d);
#define R "\xef\xbf\xbd"
    expect(f, "error[E0101]: found " R " and " R "\n"
              " --> n" R ":1:2\n"
              "  |\n"
              "1 | a" R R "[31m" R "b" R "\n"
              "  |  ^\n"
              "\n");
}

TEST_WITH(long_lines_are_cut_around_the_place, set_up, tear_down) {
    Fixture *f = *state;
    char *text = arena_alloc(f->arena, 100001);
    memset(text, 'a', 100000);
    memcpy(text + 50000, "HERE", 4);
    uint32_t file = add(f, "m", text);
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 50001, 1, 50005}, "m");
    diag_emit(&d);
    Buf want = {0};
    buf_printf(&want, "error[E0101]: m\n --> m:1:50001\n  |\n1 | ...%.30sHERE%.86s...\n", text,
               text);
    buf_printf(&want, "  | %*s^^^^\n\n", 33, "");
    char *wanted = buf_take(&want);
    expect(f, wanted);
    free(wanted);

    /* A span longer than the window ends at its edge; at the end of the line no dots follow. */
    d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 99999, 1, 100001}, "m");
    diag_emit(&d);
    buf_printf(&want, "error[E0101]: m\n --> m:1:99999\n  |\n1 | ...%.120s\n", text);
    buf_printf(&want, "  | %*s^^\n\n", 121, "");
    wanted = buf_take(&want);
    expect(f, wanted);
    free(wanted);
}

TEST_WITH(senseless_spans_are_clamped, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m", "one\ntwo");
    const Span spans[] = {
        {file, 99, 99, 98, 1},                                  /* behind the end */
        {file, 1, 3, 1, 1},                                     /* backwards */
        {file, 1, 0, 0, 0},                                     /* no column */
        {file, 1, 1, UINT32_MAX, UINT32_MAX},                   /* all and more */
        {file, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, /* overflow */
        {file, 0, 1, 1, 1},
        {file + 7, 1, 1, 1, 2}, /* no line, no such file */
    };
    static const char *const texts[] = {
        "error[E0101]: m\n --> m:2:99\n  |\n2 | two\n  |    ^\n\n",
        "error[E0101]: m\n --> m:1:3\n  |\n1 | one\n  |   ^\n\n",
        "error[E0101]: m\n --> m:1:1\n  |\n1 | one\n  | ^\n\n",
        "error[E0101]: m\n --> m:1:1\n  |\n1 |   one\n  |  _^\n2 | | two\n  | |____^\n\n",
        "error[E0101]: m\n --> m:2:4294967295\n  |\n2 | two\n  |    ^\n\n",
        "error[E0101]: m\n\n",
        "error[E0101]: m\n\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        Diag d = diag_at(&f->set, E_unexpected_token, spans[i], "m");
        diag_emit(&d);
        expect(f, texts[i]);
    }
    uint32_t empty = add(f, "e", "");
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){empty, 1, 1, 1, 1}, "m");
    diag_emit(&d);
    expect(f, "error[E0101]: m\n --> e:1:1\n  |\n1 |\n  | ^\n\n");
}

TEST_WITH(a_span_up_to_the_next_line_is_one_line, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m", "one\ntwo\n");
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 2, 2, 1}, "m");
    diag_emit(&d);
    expect(f, "error[E0101]: m\n --> m:1:2\n  |\n1 | one\n  |  ^^\n\n");
}

TEST_WITH(color_only_when_asked_for, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m", "one\n");
    f->set.color = true;
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 1, 1, 4}, "m");
    diag_emit(&d);
    expect(f, "\033[1;31merror[E0101]\033[0m\033[1m: m\033[0m\n"
              "\033[1;34m -->\033[0m m:1:1\n"
              "\033[1;34m  |\033[0m\n"
              "\033[1;34m1 |\033[0m one\n"
              "\033[1;34m  |\033[0m \033[1;31m^^^\033[0m\n"
              "\n");
}

TEST_WITH(more_notes_than_room_are_counted, set_up, tear_down) {
    Fixture *f = *state;
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){0}, "m");
    for (int i = 0; i < 11; i++) diag_note(&d, (Span){0}, "%d", i);
    diag_emit(&d);
    expect(f, "error[E0101]: m\n  = note: 0\n  = note: 1\n  = note: 2\n  = note: 3\n  = note: 4\n"
              "  = note: 5\n  = note: 6\n  = note: 7\n  = note: and 3 more notes like these\n\n");
}

TEST_WITH(json_is_one_object_a_line, set_up, tear_down) {
    Fixture *f = *state;
    uint32_t file = add(f, "m.fsd", "one\n");
    f->set.format = DIAG_JSON;
    f->set.color = true;
    Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, 1, 2, 1, 4}, "say \"no\" \xff\nand");
    diag_note(&d, (Span){file, 1, 1, 1, 2}, "here");
    diag_help(&d, "help");
    diag_emit(&d);
    d = diag_at(&f->set, W_unused_config, (Span){0}, "w");
    diag_emit(&d);
    expect(f, "{\"code\":\"E0101\",\"severity\":\"error\",\"message\":\"say \\\"no\\\" "
              "\xef\xbf\xbd\\nand\","
              "\"file\":\"m.fsd\",\"line\":1,\"col\":2,\"end_line\":1,\"end_col\":4,"
              "\"notes\":[{\"message\":\"here\",\"file\":\"m.fsd\",\"line\":1,\"col\":1,"
              "\"end_line\":1,\"end_col\":2}],\"help\":\"help\"}\n"
              "{\"code\":\"W0301\",\"severity\":\"warning\",\"message\":\"w\",\"file\":null,"
              "\"line\":0,\"col\":0,\"end_line\":0,\"end_col\":0,\"notes\":[],\"help\":null}\n");
}

/* Any bytes and any span: no crash (sanitizers watch), text stays UTF-8, JSON stays JSON. */
TEST_WITH(anything_can_be_rendered, set_up, tear_down) {
    Fixture *f = *state;
    uint64_t random = 7;
    for (int round = 0; round < 2000; round++) {
        char *text = arena_alloc(f->arena, 301);
        size_t n = 0;
        for (; n < 300; n++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            unsigned pick = (unsigned)(random >> 33);
            text[n] = pick % 5 == 0 ? '\n' : pick % 5 == 1 ? '\t' : (char)(pick >> 8);
            if (pick % 301 == 300) break;
        }
        text[n] = 0;
        uint32_t file = diag_add_file(&f->set, "m", text, n), at[4];
        for (int i = 0; i < 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            at[i] = (uint32_t)(random >> 40) % (i % 2 ? 40 : 70);
        }
        Diag d = diag_at(&f->set, E_unexpected_token, (Span){file, at[0], at[1], at[2], at[3]},
                         "%s", text);
        f->set.format = round % 2 ? DIAG_JSON : DIAG_TEXT;
        diag_emit(&d);
        for (size_t i = 0, length; i < f->out.n; i += length) {
            uint32_t c = utf8_next(f->out.at + i, f->out.n - i, &length);
            assert_true(length > 1 || c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f));
        }
        if (f->set.format == DIAG_JSON) {
            json_t *object = json_loadb(f->out.at, f->out.n, 0, NULL);
            assert_non_null(object);
            json_decref(object);
        }
        f->out.n = 0;
    }
}

TEST_WITH(codes_are_sorted_and_explained, set_up, tear_down) {
    for (int i = 0; i < DIAG_COUNT; i++) {
        const char *code = diag_info[i].code, *title = diag_info[i].title;
        const char *text = diag_info[i].text;
        assert_true(i == 0 || strcmp(diag_info[i - 1].code, code) < 0);
        assert_int_equal(strlen(code), 5);
        assert_int_equal(code[0], diag_info[i].severity == DIAG_ERROR ? 'E' : 'W');
        assert_int_equal(diag_info[i].severity == DIAG_ERROR, diag_info[i].exit_code != EXIT_DONE);
        assert_int_equal(strspn(code + 1, "0123456789"), 4);
        assert_ptr_equal(diag_find(code), &diag_info[i]);
        assert_true(strlen(title) > 0 && !strchr(title, '\n'));
        assert_true(strlen(text) > 40);
        assert_int_equal(text[strlen(text) - 1], '\n');
    }
    assert_null(diag_find("E9999"));
    assert_null(diag_find(""));
}

/* The user's own mistake decides, whatever else was reported and in whatever order. */
TEST_WITH(the_row_gives_the_exit_code, set_up, tear_down) {
    Fixture *f = *state;
    static const DiagCode order[] = {W_no_effect, E_lacking, E_array_file, E_shape, E_cannot_read};
    static const int code[] = {EXIT_DONE, EXIT_ENVIRONMENT, EXIT_CORRUPT, EXIT_USER, EXIT_USER};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        Diag d = diag_at(&f->set, order[i], (Span){0}, "m");
        diag_emit(&d);
        assert_int_equal(diag_exit_code(&f->set), code[i]);
    }
}

TEST_WITH(a_message_goes_on, set_up, tear_down) {
    Fixture *f = *state;
    Diag d = diag_at(&f->set, E_lacking, (Span){0}, "%d%% of it", 5);
    diag_more(&d, " is %s", "missing");
    diag_emit(&d);
    expect(f, "error[E0390]: 5% of it is missing\n\n");
}

RUN_TESTS(NULL, NULL)
