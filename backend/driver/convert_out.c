/* fsdpc convert of a checkpoint: writes its weights to a .safetensors file or a folder of Hugging
 * Face's layout, with the same bytes as `fsdp-run --save` (checkpoint/weights.c).
 *
 * Weights are read in the order of the checkpoint, a piece at a time. A piece is large because a
 * column of it is contiguous in the output where a weight is stored transposed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_files.h"

enum { PIECE = 6 << 20 }; /* elements */

static int check_target(const CkWeights *w, char *error) {
    Target target;
    uint64_t bytes, largest;
    int code = ck_weights_size(w, &bytes, &largest, error);
    if (!code) code = target_find(&target, w->form->path, error);
    if (!code) code = target_check(&target, w->form->folder, error);
    return code ? code : target_room(&target, bytes, largest, 0, error);
}

/* buffer: of PIECE elements. */
static int write_weight(Checkpoint *from, CkWeights *w, uint32_t tensor, void *buffer,
                        char *error) {
    const CkTensor *t = &w->c.tensor[tensor];
    int code = 0;
    for (int64_t done = 0; done < t->elements && !code; done += PIECE) {
        int64_t n = MIN((int64_t)PIECE, t->elements - done);
        if (driver_stop) return EXIT_INTERRUPTED;
        code = checkpoint_read(from, tensor, done, n, buffer, error);
        if (!code) code = ck_weights_put(w, tensor, FT_COUNT, done, n, buffer, error);
    }
    return code;
}

static int write_all(Checkpoint *from, CkWeights *w, void *buffer, char *error) {
    int code = ck_weights_open(w, error);
    if (code) return code;
    for (uint32_t i = 0; i < w->c.n_tensor && !code; i++)
        if (w->c.tensor[i].n_placed) code = write_weight(from, w, i, buffer, error);
    return ck_weights_close(w, code, error);
}

int convert_out(Checkpoint *from, const CkContents *named, const SaveForm *form, char *error) {
    Arena *a = arena_new();
    CkWeights w;
    const char *twice;
    char odd[ERROR_BYTES];
    int code = ck_weights_plan(&w, named, NULL, form, a, &twice, odd);
    if (code) {
        snprintf(error, ERROR_BYTES, "%.300s: %.180s", checkpoint_folder(from), odd);
    } else if (twice) {
        snprintf(error, ERROR_BYTES, "%.300s: two parameters would be saved as %.100s",
                 checkpoint_folder(from), twice);
        code = EXIT_USER;
    }
    void *buffer = malloc(PIECE * sizeof(double));
    if (!code && !buffer) {
        snprintf(error, ERROR_BYTES, "no memory for the weights");
        code = EXIT_ENVIRONMENT;
    }
    if (!code) code = check_target(&w, error);
    if (!code) code = write_all(from, &w, buffer, error);
    free(buffer);
    arena_free(a);
    return code;
}
