/* fsdpc plot: draws logs of fsdp-run as a picture. Nothing is written before every log has been
 * read. */
#include <errno.h>
#include <string.h>

#include "driver.h"
#include "loss_plot.h"

int driver_plot(Driver *d) {
    const Options *o = &d->options;
    Curve curves[MOST_CURVES];
    Buf out = {0};
    if (!o->output)
        return driver_mistake(d, E_missing_argument, "`-o -` writes the picture to standard output",
                              "`fsdpc plot` needs -o FILE for the picture");
    for (uint32_t i = 0; i < o->files.n; i++) {
        const char *file = o->files.at[i];
        if (driver_same_file(file, o->output))
            return driver_mistake(d, E_option_value, NULL, "the picture would replace the log %s",
                                  file);
        size_t size;
        const char *text = driver_read(d, file, &size);
        if (!curve_read(&d->diags, &curves[i], file, text, size)) return diag_exit_code(&d->diags);
        curve_thin(&curves[i]);
    }
    curve_svg(curves, o->files.n, o->given & OPTION_RATE, &out);
    driver_write(o->output, out.at, out.n);
    buf_free(&out);
    return EXIT_DONE;
}
