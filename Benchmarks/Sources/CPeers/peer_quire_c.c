// quire-c: Quire as a program in C has it, through libquire.so.0. It does what QuireEngine.swift does through
// the Swift API, call by call: plan and ingest in a batch, pages read by their numbers out of snapshots.
// Files: peer_quire_c.c (library, cache, feeds), quire_c_write.c, quire_c_read.c.
//
// The library is loaded, not linked. Its names stay its own (RTLD_LOCAL), so its engine and the one in this
// program, which have the same source, do not meet. What it needs of libc and LMDB it finds in this program
// first, as all libraries do, so its syncs are counted and left out too.
#define _GNU_SOURCE
#include "quire_c.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

quire_functions quire;

int quire_c_complain(peer *p, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    int length = snprintf(p->error, sizeof p->error, "quire-c: ");
    vsnprintf(p->error + length, sizeof p->error - (size_t)length, format, rest);
    va_end(rest);
    return -1;
}

int quire_c_check(peer *p, quire_status status) {
    if (status == QUIRE_OK) return 0;
    quire_error error = QUIRE_ERROR_INIT;
    quire.last_error(&error);
    return quire_c_complain(p, "%s", error.message != NULL ? error.message : "failed");
}

quire_bytes quire_c_text(uint64_t id, char digits[QUIRE_DIGITS]) {
    char *end = digits + QUIRE_DIGITS, *start = end;
    do *--start = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    return (quire_bytes){start, (size_t)(end - start)};
}

// ---- Open and close ------------------------------------------------------------------------------

// QUIRE_LIBRARY, or what `make lib` has built, seen from this program in Benchmarks/.build/TRIPLE/release.
static const char *load_library(void) {
    static char path[PATH_MAX + 64], message[PATH_MAX + 256];
    const char *given = getenv("QUIRE_LIBRARY");
    if (given != NULL && *given != 0) {
        snprintf(path, sizeof path, "%s", given);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
        while (length > 0 && path[length - 1] != '/') length--;
        snprintf(path + (length > 0 ? length : 0), 64, "../../../../build/libquire.so.0");
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(message, sizeof message, "run `make lib`, or set QUIRE_LIBRARY: %s", dlerror());
        return message;
    }
#define FIND(name)                                                                                          \
    if ((quire.name = (__typeof__(&quire_##name))dlsym(library, "quire_" #name)) == NULL) return dlerror();
    QUIRE_C_FUNCTIONS(FIND)
    return NULL;
}

static char version[32];

static int quire_c_open(const char *folder, int durability, peer **out) {
    char path[PATH_MAX];
    peer *p = *out = calloc(1, sizeof *p);       // on failure too: it carries the message
    if (p == NULL) return -1;
    p->is_owner = true;
    snprintf(version, sizeof version, "%s", quire.version_string());
    snprintf(path, sizeof path, "%s/feeds.quire", folder);
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    if (durability == PEER_RELAXED) options.durability = QUIRE_DURABILITY_RELAXED;
    return quire_c_check(p, quire.open(path, &options, &p->cache));
}

// Another handle on the same cache, for reading and for writing.
static int quire_c_open_reader(peer *writer, peer **out) {
    *out = calloc(1, sizeof **out);
    if (*out == NULL) return quire_c_complain(writer, "out of memory");
    (*out)->cache = writer->cache;
    return 0;
}

static void quire_c_close(peer *p) {
    if (p == NULL) return;
    for (size_t i = 0; i < MOST_FEEDS; i++) {
        if (p->feeds[i] == NULL) continue;
        quire.feed_close(p->feeds[i]->handle);
        free(p->feeds[i]);
    }
    if (p->is_owner && p->cache != NULL) quire.close(p->cache);
    free(p->pages);
    free(p->posts);
    free(p->digits);
    free(p->ids);
    free(p->id_digits);
    free(p);
}

static const char *quire_c_error(peer *p) { return p == NULL ? "out of memory" : p->error; }

int quire_c_get_info(peer *p, quire_feed *handle, quire_feed_info *out) {
    quire_snapshot *snapshot = NULL;
    if (quire_c_check(p, quire.snapshot_begin(p->cache, &snapshot)) != 0) return -1;
    int failed = quire_c_check(p, quire.feed_get_info(snapshot, handle, out));
    quire.snapshot_end(snapshot);
    return failed;
}

static quire_c_feed_state *open_feed(peer *p, uint32_t number) {
    char text[32];
    quire_bytes name = {text, (size_t)snprintf(text, sizeof text, "feed-%u", number)};
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    options.order = QUIRE_ORDER_STABLE;
    quire_c_feed_state *f = calloc(1, sizeof *f);
    if (f == NULL || quire_c_check(p, quire.feed_open(p->cache, name, &options, &f->handle)) != 0) {
        free(f);
        return NULL;
    }
    if (quire_c_get_info(p, f->handle, &info) != 0) {
        quire.feed_close(f->handle);
        free(f);
        return NULL;
    }
    f->is_filled = info.pages > 0;
    return p->feeds[number] = f;
}

quire_c_feed_state *quire_c_feed(peer *p, uint32_t number) {
    if (number >= MOST_FEEDS) {
        quire_c_complain(p, "feed %u: too many feeds", number);
        return NULL;
    }
    return p->feeds[number] != NULL ? p->feeds[number] : open_feed(p, number);
}

const peer_engine peer_quire_c = {
    .name = "quire-c",
    .version = version,
    .about = "C API of libquire.so.0: plan and ingest, pages read out of snapshots",
    .open = quire_c_open,
    .close = quire_c_close,
    .error = quire_c_error,
    .append = quire_c_append,
    .prepend = quire_c_prepend,
    .update = quire_c_update,
    .prune = quire_c_prune,
    .read_page = quire_c_read_page,
    .scroll = quire_c_scroll,
    .contains = quire_c_contains,
    .post = quire_c_post,
    .page_count = quire_c_page_count,
    .open_reader = quire_c_open_reader,
    .load = load_library,
    .readers_write = true,
    .stage_pages = quire_c_stage_pages,
    .stage_ids = quire_c_stage_ids,
    .number_pages = quire_c_number_pages,
    .read_numbered = quire_c_read_numbered,
};
