/* fsdpc explain and fsdpc help: the tables of diagnostics and of the language, as text. */
#include <string.h>

#include "driver.h"

static int list_codes(void) {
    size_t n;
    const char *const *codes = diag_code_list(&n);
    Buf out = {0};
    for (size_t i = 0; i < n; i++) buf_printf(&out, "%s  %s\n", codes[i], diag_title(codes[i]));
    driver_print(out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}

int driver_explain(Driver *d) {
    if (!d->options.files.n) return list_codes();
    const char *code = d->options.files.at[0], *text = diag_explain(code);
    if (!text) {
        size_t n;
        const char *const *codes = diag_code_list(&n);
        const char *nearest = nearest_name(code, codes, n);
        const char *help = nearest ? arena_printf(d->arena, "did you mean `%s`?", nearest)
                                   : "`fsdpc explain` lists them";
        return driver_mistake(d, "E0508", help, "there is no diagnostic `%s`", code);
    }
    Buf out = {0};
    buf_printf(&out, "%s: %s\n\n%s", code, diag_title(code), text);
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
        driver_mistake(d, "E0508", "`fsdpc help` lists them", "%.*s", (int)out.n, out.at);
    }
    buf_free(&out);
    return known ? EXIT_DONE : EXIT_USER;
}
