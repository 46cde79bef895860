/* fsdpc explain and fsdpc help: the tables of diagnostics and of the language, as text. */
#include <string.h>

#include "driver.h"

static int list_codes(void) {
    Buf out = {0};
    for (int i = 0; i < DIAG_COUNT; i++)
        buf_printf(&out, "%s  %s\n", diag_info[i].code, diag_info[i].title);
    driver_print(out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}

int driver_explain(Driver *d) {
    if (!d->options.files.n) return list_codes();
    const char *code = d->options.files.at[0];
    const DiagInfo *info = diag_find(code);
    if (!info) {
        const char *codes[DIAG_COUNT];
        for (int i = 0; i < DIAG_COUNT; i++) codes[i] = diag_info[i].code;
        const char *nearest = nearest_name(code, codes, DIAG_COUNT);
        const char *help = nearest ? arena_printf(d->arena, "did you mean `%s`?", nearest)
                                   : "`fsdpc explain` lists them";
        return driver_mistake(d, E_unknown_topic, help, "there is no diagnostic `%s`", code);
    }
    Buf out = {0};
    buf_printf(&out, "%s: %s\n\n%s", code, info->title, info->text);
    driver_print(out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}

int driver_help(Driver *d) {
    const char *topic = d->options.files.n ? d->options.files.at[0] : NULL;
    Buf out = {0};
    bool known = frontend_help(topic, &out);
    if (known) {
        driver_print(out.at, out.n);
    } else {
        while (out.n && out.at[out.n - 1] == '\n') out.n--;
        driver_mistake(d, E_unknown_topic, "`fsdpc help` lists them", "%.*s", (int)out.n, out.at);
    }
    buf_free(&out);
    return known ? EXIT_DONE : EXIT_USER;
}
