/* The ops of attention: each call goes to the implementation that was measured as fastest for its
 * form, otherwise to our own kernels. */
#include "attention_call.h"

static int attention_any(const Launch *l) {
    Attention a;
    bool done = false;
    if (!attention_of_call(l->call, &a)) return bad_operands(l);
    if (a.backward && l->call->workspace_bytes < attention_delta_bytes(&a))
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small");
    int code = attention_by_choice(l, &a, &done);
    return code || done ? code : attention_own(l, &a);
}

KERNEL(attention) { return attention_any(l); }
KERNEL(attention_biased) { return attention_any(l); }
KERNEL(attention_biased_each) { return attention_any(l); }
KERNEL(attention_sunk) { return attention_any(l); }
KERNEL(attention_packed) { return attention_any(l); }
KERNEL(attention_grad) { return attention_any(l); }
KERNEL(attention_biased_grad) { return attention_any(l); }
KERNEL(attention_biased_each_grad) { return attention_any(l); }
KERNEL(attention_packed_grad) { return attention_any(l); }
