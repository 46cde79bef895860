/* How a run ends before its time: who decides it, and who says why.
 *
 * A rank that fails tells chief and deputy. The chief decides: the first failure counts, and every
 * rank learns (OVER) which rank reports and what. A process that the chief loses is a failure that
 * the chief reports. One decision is enough for one message.
 *
 * A failure with code EXIT_RANK may be the echo of another (a library that noticed that its peer is
 * gone), so it is held for a moment: a process that turns out to be lost, or a failure with a cause
 * of its own, takes precedence.
 *
 * When the chief is gone or silent the deputy decides; the others wait for it. A rank that has lost
 * both decides for itself, after a moment in which the other may still be heard; of the ranks on
 * one host, the first to take a name that only one can have reports.
 *
 * What this does not handle: parts of a run that cannot reach each other decide each for itself,
 * and each part prints its message; so do hosts that lose chief and deputy at once.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "link.h"
#include "machine.h"

/* Slices for which a failure is held: by the chief, by the deputy for the chief, by a rank for
 * both; and a loss by the rank that decides. */
enum { ECHO_SLICES = 6, LOST_SLICES = 14, DEPUTY_SLICES = 20, ALONE_SLICES = 50 };

static void set_ending(Ending *e, int32_t speaker, int32_t code, const char *text) {
    *e = (Ending){.speaker = speaker, .code = code ? code : EXIT_RANK};
    snprintf(e->text, sizeof e->text, "%s", text);
}

void ends_decide(World *w, int32_t speaker, int32_t code, const char *text) {
    if (w->over) return;
    w->over = true;
    set_ending(&w->ending, speaker, code, text);
    for (int32_t r = 0; r < w->ranks; r++) {
        if (!w->link[r].noted) continue;
        link_send(&w->link[r], OVER, &w->ending, sizeof w->ending, NULL, 0);
        w->link[r].unseen = true;
    }
}

static void hold_failure(World *w, int32_t rank, int32_t code, const char *text, int32_t slices) {
    if (w->held.code && !(w->held.code == EXIT_RANK && code != EXIT_RANK)) return;
    set_ending(&w->held, rank, code, text);
    w->held_slices = slices;
}

/* A failure of this rank, or of one that told us. */
void ends_failed(World *w, int32_t rank, int32_t code, const char *text) {
    if (w->over) {
        if (rank != w->rank) link_send(&w->link[rank], OVER, &w->ending, sizeof w->ending, NULL, 0);
        return;
    }
    if (w->lost_slices) return; /* whatever this is, it follows from that */
    if (w->rank == 0 && code != EXIT_RANK) {
        ends_decide(w, rank, code, text);
        return;
    }
    if (rank == w->rank && w->rank != 0) {
        Ending e;
        set_ending(&e, rank, code, text);
        link_send(&w->link[0], FAILED, &e, sizeof e, NULL, 0);
        if (w->deputy != w->rank) link_send(&w->link[w->deputy], FAILED, &e, sizeof e, NULL, 0);
    }
    hold_failure(w, rank, code, text,
                 w->rank == 0           ? ECHO_SLICES
                 : w->rank == w->deputy ? DEPUTY_SLICES
                                        : ALONE_SLICES);
}

void ends_heard(World *w, int32_t from, const Ending *e) {
    link_send(&w->link[from], SEEN, NULL, 0, NULL, 0);
    if (w->over || e->speaker < -1 || e->speaker >= w->ranks) return;
    w->over = true;
    w->ending = *e;
    /* The chief passes on what the deputy decided while the chief was away. */
    for (int32_t r = 0; r < w->ranks && w->rank == 0; r++)
        if (r != from && w->link[r].noted)
            link_send(&w->link[r], OVER, &w->ending, sizeof w->ending, NULL, 0);
}

static void loss_text(const World *w, int32_t rank, RankLoss loss, char *out, size_t size) {
    char who[160], how[96], call[64], place[320], where[400] = "";
    if (loss == LOSS_SILENT && rank_stopped(w, rank)) loss = LOSS_STOPPED;
    tcp_describe(w, rank, who, sizeof who);
    const char *remedy = missing_loss_text(loss, w->options.timeout, how, sizeof how);
    missing_call_text(w->plan, w->look.sign[rank].call, call, sizeof call);
    if (w->own.waits) {
        rank_where(&w->own, place, sizeof place);
        snprintf(where, sizeof where, "; rank %d waits in %.200s", w->rank, place);
    }
    snprintf(out, size, "%.120s %s%s%s\nhelp: %s", who, how, call, where, remedy);
}

void ends_lost(World *w, int32_t rank, RankLoss loss) {
    if (w->over || (w->rank != 0 && rank != 0)) return;
    /* Of several that are gone at once the first is named, whichever was noticed first. */
    if (w->lost_slices && loss == LOSS_ENDED) w->lost = MIN(w->lost, rank);
    if (w->lost_slices) return;
    /* Soon this rank will wait for the lost one; then it can report where. */
    bool decides = w->rank == 0 || w->rank == w->deputy;
    if (decides && loss == LOSS_ENDED && w->watched && !w->own.waits && !w->held.code) {
        w->lost = rank;
        w->lost_slices = LOST_SLICES;
        return;
    }
    char text[END_TEXT];
    loss_text(w, rank, loss, text, sizeof text);
    bool cause = w->held.code && w->held.code != EXIT_RANK;
    if (decides) {
        if (cause)
            ends_decide(w, w->held.speaker, w->held.code, w->held.text);
        else
            ends_decide(w, w->rank, EXIT_RANK, text);
    } else {
        hold_failure(w, w->rank, EXIT_RANK, text, ALONE_SLICES);
    }
}

/* The name is an address of sockets within the machine, gone with the process. */
static bool has_the_word(World *w) {
    uint64_t run = 0xcbf29ce484222325u;
    const unsigned char *table = (const unsigned char *)w->process;
    for (size_t i = 0; i < (size_t)w->ranks * sizeof *w->process; i++)
        run = (run ^ table[i]) * 0x100000001b3u;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "fsdp-run/%016llx",
                     (unsigned long long)run);
    w->word = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (w->word < 0) return true;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return !bind(w->word, (void *)&name, length) || errno != EADDRINUSE;
}

/* No rank has decided, so this one does. */
void ends_alone(World *w, int32_t speaker, int32_t code, const char *text) {
    if (w->over) return;
    bool counts = w->rank == 0 || w->rank == w->deputy || has_the_word(w);
    ends_decide(w, counts ? speaker : -1, code, text);
}

void ends_tick(World *w) {
    if (!w->over && w->lost_slices && (w->own.waits || --w->lost_slices == 0)) {
        char text[END_TEXT];
        loss_text(w, w->lost, LOSS_ENDED, text, sizeof text);
        ends_decide(w, w->rank, EXIT_RANK, text);
    }
    if (w->over || !w->held.code) return;
    if (--w->held_slices <= 0) ends_alone(w, w->held.speaker, w->held.code, w->held.text);
}

/* Has every rank been told what it must be told? */
bool ends_flushed(const World *w) {
    for (int32_t r = 0; r < w->ranks; r++) {
        const Link *l = &w->link[r];
        if (link_is_open(l) && l->noted && (l->unseen || link_has_output(l))) return false;
    }
    return true;
}

void ends_speak(World *w) {
    if (w->spoken) return;
    w->spoken = true;
    if (w->options.may_speak && !w->options.may_speak()) return;
    fprintf(stderr, "error: %s\n", w->ending.text);
}
