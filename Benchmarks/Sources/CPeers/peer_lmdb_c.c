// lmdb-c: the practical limit. The fastest layout we could devise by hand on raw LMDB with everything in
// one file and one transaction per commit, so that LMDB alone makes it survive crashes and power cuts.
// Files: peer_lmdb_c.c (environment, views, feeds), lmdb_index.c, lmdb_read.c, lmdb_write.c, lmdb_change.c.
//
// What a commit costs is the number of scattered LMDB pages it dirties, not its bytes; what a read costs
// is the number of cache misses. Every choice follows from these two:
// - One tree (the main one, INTEGERKEY), no named tables: saves the leaf of table roots and one root per
//   table in each commit. Integer keys compare with one instruction.
// - One page = one value, written in place (MDB_RESERVE): ids, keys, ends, bodies. A value above 2 KB is
//   a contiguous run of LMDB pages: a read is one descent and one scan; duplicates copied, not referred to.
// - Key (feed, ord), prepend takes the next lower ord: no renumbering, flat in the length of the feed.
// - The feed's record (counters, link, live ords) sorts right behind its last page: an append dirties one
//   leaf for the new page and the counters.
// - State and "tail" (log and ids of the last ~16 commits) fill exactly one leaf: a small commit writes its
//   index entries and its change-log record into that one leaf. When full, the tail becomes one log chunk
//   and one sorted run.
// - Id index = sorted runs, merged four at a time (each id is rewritten log4(n/400) times, always as part of
//   one sequential value, never as a dirtied leaf per id). A look-up goes straight to a bucket by the scaled
//   hash; a byte per slot rules out seven misses of eight without a branch and without touching the entries
//   (this took the place of Bloom filters: 25 to 15 us for 100 ids). Misses of a batch overlap by prefetching.
// - One entry per location; ords are never used twice, so "does the feed hold it" is decided by the feed's
//   live ords alone: neither the page nor a deletion from the index is needed. Merges drop dead entries.
// - Prune deletes values and moves the tail; 256 pages per transaction keep LMDB's free-list records small.
// - Updates write an overlay value of a few hundred bytes beside the page, folded into the page after 8.
// - Views keep state, feeds and run pointers from one transaction to the next; a snapshot with the same
//   transaction number costs nothing to open (reset/renew, no allocation).
// - NORDAHEAD (random reads), NOTLS (readers on any thread); full sync, or NOMETASYNC when relaxed.
#include "lmdb_c.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

int fail(peer *p, const char *where, int code) {
    if (code != 0) snprintf(p->error, sizeof p->error, "lmdb-c: %s: %s", where, mdb_strerror(code));
    return code != 0 ? -1 : 0;
}

// Eight lanes of multiply and rotate: they hide the latency of the multiplication.
uint64_t checksum(const void *bytes, size_t size) {
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    const uint8_t *at = bytes;
    uint64_t lane[8] = {size, 1, 2, 3, 4, 5, 6, 7}, word;
    for (; size >= 64; at += 64, size -= 64) {
        for (int i = 0; i < 8; i++) {
            lane[i] = (lane[i] ^ word_at(at + 8 * i)) * k;
            lane[i] = lane[i] << 29 | lane[i] >> 35;
        }
    }
    for (int i = 0; size > 0; i++) {
        size_t part = size < 8 ? size : 8;
        word = 0;
        memcpy(&word, at, part);
        lane[i] = (lane[i] ^ word) * k;
        at += part;
        size -= part;
    }
    word = 0;
    for (int i = 0; i < 8; i++) word = mix(word ^ lane[i]);
    return word;
}

int get(view *v, uint64_t key, MDB_val *value) {
    MDB_val k = {sizeof key, &key};
    return mdb_get(v->txn, v->dbi, &k, value);
}

// ---- Feeds ---------------------------------------------------------------------------------------

static int load_feed(view *v, uint32_t number, feed *f) {
    MDB_val value;
    int code = get(v, KEY_FEED(number), &value);
    memset(&f->record, 0, sizeof f->record);
    f->dirty = false;
    if (code == MDB_NOTFOUND) return 0;
    if (code != 0) return code;
    if (value.mv_size < sizeof(feed_record)) return MDB_CORRUPTED;
    memcpy(&f->record, value.mv_data, sizeof(feed_record));
    size_t size = f->record.extents * sizeof(extent);
    if (value.mv_size != sizeof(feed_record) + size) return MDB_CORRUPTED;
    if (f->record.extents > f->room) {
        extent *more = realloc(f->extent, size);
        if (more == NULL) return ENOMEM;
        f->extent = more;
        f->room = f->record.extents;
    }
    if (size > 0) memcpy(f->extent, (uint8_t *)value.mv_data + sizeof(feed_record), size);
    return 0;
}

feed *feed_at(view *v, uint32_t number) {
    if (number > MAX_FEED) return NULL;
    if (number >= v->feeds) {
        uint32_t room = number < 64 ? 64 : number + number / 2;
        feed **more = realloc(v->feed, room * sizeof *more);
        if (more == NULL) return NULL;
        memset(more + v->feeds, 0, (room - v->feeds) * sizeof *more);
        v->feed = more;
        v->feeds = room;
    }
    feed *f = v->feed[number];
    if (f == NULL) {
        f = v->feed[number] = calloc(1, sizeof *f);
        if (f == NULL) return NULL;
        f->number = number;
    }
    if (f->epoch == v->epoch) return f;
    if (load_feed(v, number, f) != 0) return NULL;
    f->epoch = v->epoch;
    return f;
}

bool feed_holds(const feed *f, uint32_t ord) {
    uint32_t low = 0, high = f->record.extents;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ord < f->extent[middle].first) high = middle;
        else if (ord - f->extent[middle].first < f->extent[middle].count) return true;
        else low = middle + 1;
    }
    return false;
}

bool feed_ord(const feed *f, uint64_t index, uint32_t *ord) {
    if (index >= f->record.pages) return false;
    for (uint32_t i = 0; i < f->record.extents; i++) {
        if (index < f->extent[i].count) {
            *ord = f->extent[i].first + (uint32_t)index;
            return true;
        }
        index -= f->extent[i].count;
    }
    return false;
}

// ---- Views ---------------------------------------------------------------------------------------

// Adds what the tail holds beyond what the table knows already.
static int load_recent(view *v) {
    if (v->recent_flushes != v->state.flushes || v->recent_used > v->state.used) {
        table_clear(&v->recent);
        v->recent_flushes = v->state.flushes;
        v->recent_used = 0;
    }
    while (v->recent_used < v->state.used) {
        const uint64_t *log = v->tail + v->recent_used;
        uint32_t count = LOG_COUNT(log[1]);
        if (v->recent_used + LOG_HEAD + count > TAIL_WORDS) return MDB_CORRUPTED;
        if (LOG_KIND(log[1]) == LOG_INSERT) {
            for (uint32_t i = 0; i < count; i++) {
                entry e = {mix(log[LOG_HEAD + i]), log[2] | (i < 255 ? i : 255)};
                if (!table_add(&v->recent, e)) return ENOMEM;
            }
        }
        v->recent_used += LOG_HEAD + count;
    }
    return 0;
}

// Takes over a snapshot. Run pointers are kept where the new directory names the same run; a file changed
// by another writer in this process's write view starts from nothing.
static int refresh(view *v, bool keep) {
    MDB_val value;
    run_ref old[MAX_RUNS];
    const run *known[MAX_RUNS];
    uint32_t olds = keep ? v->state.runs : 0;
    memcpy(old, v->state.run, sizeof old);
    memcpy(known, v->run, sizeof known);
    v->epoch++;
    memset(v->run, 0, sizeof v->run);
    int code = get(v, KEY_STATE, &value);
    if (code == MDB_NOTFOUND) memset(&v->state, 0, sizeof v->state);
    else if (code != 0) return code;
    else if (value.mv_size != sizeof v->state) return MDB_CORRUPTED;
    else memcpy(&v->state, value.mv_data, sizeof v->state);
    if (v->state.runs > MAX_RUNS || v->state.used > TAIL_WORDS) return MDB_CORRUPTED;
    for (uint32_t i = 0; i < v->state.runs; i++)
        for (uint32_t j = 0; j < olds; j++)
            if (old[j].number == v->state.run[i].number) v->run[i] = known[j];
    for (uint32_t half = 0; half * HALF_WORDS < v->state.used; half++) {
        code = get(v, KEY_TAIL + half, &value);
        if (code != 0) return code;
        if (value.mv_size != sizeof(half_record)) return MDB_CORRUPTED;
        memcpy(v->tail + half * HALF_WORDS, (uint8_t *)value.mv_data + 8, HALF_WORDS * 8);
    }
    if (!keep) v->recent_flushes = UINT64_MAX;
    return load_recent(v);
}

int read_begin(peer *p) {
    view *v = &p->read;
    int code = v->txn != NULL ? mdb_txn_renew(v->txn) : mdb_txn_begin(p->store->env, NULL, MDB_RDONLY, &v->txn);
    if (code != 0) return fail(p, "read transaction", code);
    if (v->cursor == NULL) code = mdb_cursor_open(v->txn, v->dbi, &v->cursor);
    else code = mdb_cursor_renew(v->txn, v->cursor);
    uint64_t snapshot = mdb_txn_id(v->txn);
    if (code == 0 && (snapshot != v->snapshot || v->epoch == 0)) {
        v->snapshot = snapshot;
        code = refresh(v, v->epoch != 0);
    }
    if (code == 0) return 0;
    v->epoch = 0;
    mdb_txn_reset(v->txn);
    return fail(p, "snapshot", code);
}

void read_end(peer *p) { mdb_txn_reset(p->read.txn); }

int write_begin(peer *p) {
    view *v = &p->write;
    int code = mdb_txn_begin(p->store->env, NULL, 0, &v->txn);
    if (code != 0) return fail(p, "write transaction", code);
    code = mdb_cursor_open(v->txn, v->dbi, &v->cursor);
    uint64_t snapshot = mdb_txn_id(v->txn);
    if (code == 0 && snapshot != v->snapshot + 1) code = refresh(v, false);
    v->snapshot = snapshot;
    p->words = 0;
    p->dirty = NULL;
    if (code == 0) return 0;
    write_abort(p);
    return fail(p, "write transaction", code);
}

// What the view remembers may be ahead of the file now: forget it.
void write_abort(peer *p) {
    view *v = &p->write;
    if (v->cursor != NULL) mdb_cursor_close(v->cursor);
    if (v->txn != NULL) mdb_txn_abort(v->txn);
    v->cursor = NULL;
    v->txn = NULL;
    v->snapshot = NO_SNAPSHOT;
}

void write_cancel(peer *p) {
    uint64_t snapshot = p->write.snapshot - 1;
    write_abort(p);
    p->write.snapshot = snapshot;
}

int grow_hashes(peer *p, size_t count) {
    if (count <= p->hash_room) return 0;
    uint64_t *more = realloc(p->hash, 3 * count * sizeof *more);
    if (more == NULL) return fail(p, "memory", ENOMEM);
    p->hash = more;
    p->here = more + count;
    p->there = more + 2 * count;
    p->hash_room = count;
    return 0;
}

static char version[32];

// ---- Open and close ------------------------------------------------------------------------------

static void free_view(view *v) {
    if (v->cursor != NULL) mdb_cursor_close(v->cursor);
    if (v->txn != NULL) mdb_txn_abort(v->txn);
    for (uint32_t i = 0; i < v->feeds; i++) {
        if (v->feed[i] != NULL) free(v->feed[i]->extent);
        free(v->feed[i]);
    }
    free(v->feed);
    free(v->recent.slot);
}

static void lmdb_close(peer *p) {
    if (p == NULL) return;
    free_view(&p->read);
    free_view(&p->write);
    if (p->store != NULL && atomic_fetch_sub(&p->store->users, 1) == 1) {
        mdb_env_close(p->store->env);
        free(p->store);
    }
    free(p->word);
    free(p->scratch);
    free(p->hash);
    free(p->piece);
    free(p);
}

static peer *new_peer(store *s) {
    peer *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->store = s;
    p->read.dbi = p->write.dbi = s->dbi;
    p->write.snapshot = NO_SNAPSHOT;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    p->token = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    return p;
}

static int open_store(store *s, const char *folder, int durability) {
    char path[4096];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, patch);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return errno;
    snprintf(path, sizeof path, "%s/posts.lmdb", folder);
    int code = mdb_env_create(&s->env);
    if (code != 0) return code;
    if ((code = mdb_env_set_mapsize(s->env, (size_t)64 << 30)) != 0) return code;
    if ((code = mdb_env_set_maxreaders(s->env, 126)) != 0) return code;
    unsigned flags = MDB_NOSUBDIR | MDB_NORDAHEAD | MDB_NOTLS;
    if (durability == PEER_RELAXED) flags |= MDB_NOMETASYNC;
    if ((code = mdb_env_open(s->env, path, flags, 0600)) != 0) return code;
    MDB_txn *txn;
    if ((code = mdb_txn_begin(s->env, NULL, 0, &txn)) != 0) return code;
    if ((code = mdb_dbi_open(txn, NULL, MDB_INTEGERKEY | MDB_CREATE, &s->dbi)) != 0) {
        mdb_txn_abort(txn);
        return code;
    }
    return mdb_txn_commit(txn);
}

static int lmdb_open(const char *folder, int durability, peer **out) {
    *out = NULL;
    store *s = calloc(1, sizeof *s);
    peer *p = s != NULL ? new_peer(s) : NULL;
    if (p == NULL) {
        free(s);
        return -1;
    }
    atomic_init(&s->users, 1);
    *out = p;       // on failure too: it carries the message, and wants closing
    int code = open_store(s, folder, durability);
    p->read.dbi = p->write.dbi = s->dbi;
    return fail(p, folder, code);
}

static int lmdb_open_reader(peer *writer, peer **out) {
    *out = new_peer(writer->store);
    if (*out == NULL) return fail(writer, "reader", ENOMEM);
    atomic_fetch_add(&writer->store->users, 1);
    return 0;
}

static const char *lmdb_error(peer *p) { return p == NULL ? "out of memory" : p->error; }

const peer_engine peer_lmdb_c = {
    .name = "lmdb-c",
    .version = version,
    .about = "one tree, page blobs with ids first, sorted-run id index, log; NORDAHEAD, NOTLS, full sync (relaxed: NOMETASYNC)",
    .open = lmdb_open,
    .close = lmdb_close,
    .error = lmdb_error,
    .append = lmdb_append,
    .prepend = lmdb_prepend,
    .update = lmdb_update,
    .prune = lmdb_prune,
    .read_page = lmdb_read_page,
    .scroll = lmdb_scroll,
    .contains = lmdb_contains,
    .post = lmdb_post,
    .page_count = lmdb_page_count,
    .open_reader = lmdb_open_reader,
};
