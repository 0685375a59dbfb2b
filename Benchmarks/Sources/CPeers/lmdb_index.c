// lmdb-c: the id index. Which locations may an id have? The tail's table and every run are asked; what
// they name is true exactly when the named feed still holds the named ord.
#include "lmdb_c.h"
#include <errno.h>
#include <stdlib.h>

enum { FAN_OUT = 4, GROUP = 128, LEAST_SLOTS = 160 };

// ---- The table of recent ids ---------------------------------------------------------------------

bool table_add(table *t, entry e) {
    if (t->slot == NULL || t->count * 2 > t->mask) {
        table bigger = {.mask = t->slot == NULL ? 1023 : t->mask * 2 + 1};
        bigger.slot = malloc((bigger.mask + 1) * sizeof(entry));
        if (bigger.slot == NULL) return false;
        memset(bigger.slot, 0xff, (bigger.mask + 1) * sizeof(entry));
        for (size_t i = 0; t->slot != NULL && i <= t->mask; i++)
            if (t->slot[i].loc != NOWHERE) table_add(&bigger, t->slot[i]);
        free(t->slot);
        *t = bigger;
    }
    size_t at = e.hash & t->mask;
    while (t->slot[at].loc != NOWHERE) at = (at + 1) & t->mask;
    t->slot[at] = e;
    t->count++;
    return true;
}

void table_clear(table *t) {
    if (t->slot == NULL) return;
    if (t->mask > 4095) {       // after a bulk load: back to a size that the caches like
        free(t->slot);
        *t = (table){0};
        return;
    }
    memset(t->slot, 0xff, (t->mask + 1) * sizeof(entry));
    t->count = 0;
}

// ---- Runs ----------------------------------------------------------------------------------------

static size_t home(const run *r, uint64_t hash) { return (size_t)((hash >> 32) * r->buckets >> 32) * BUCKET; }

const run *run_at(view *v, uint32_t i) {
    if (v->run[i] == NULL) {
        MDB_val value;
        if (get(v, KEY_RUN(v->state.run[i].number), &value) != 0) return NULL;
        const run *r = value.mv_data;
        if (value.mv_size < sizeof *r || value.mv_size != run_size(r->slots)) return NULL;
        v->run[i] = r;
    }
    return v->run[i];
}

static void run_init(run *r, uint64_t number, uint32_t buckets, uint32_t slots) {
    *r = (run){.number = number, .buckets = buckets, .slots = slots};
    memset(r + 1, 0, run_size(slots) - sizeof *r);
}

// Puts `e` in its place among equal and larger neighbours, shifting them up to the next empty slot. The
// result is the same for every order of insertions. False when it would run over the end; the last slot
// stays empty, so that every search stops.
static bool run_add(run *r, entry e) {
    uint8_t *tag = run_tags(r);
    entry *slot = run_slots(r);
    size_t at = home(r, e.hash), end = r->slots - 1;
    while (tag[at] != 0 && slot[at].hash <= e.hash) at++;
    size_t gap = at;
    while (tag[gap] != 0) gap++;
    if (gap >= end) return false;
    if (gap > at) {
        memmove(tag + at + 1, tag + at, gap - at);
        memmove(slot + at + 1, slot + at, (gap - at) * sizeof(entry));
    }
    tag[at] = tag_of(e.hash);
    slot[at] = e;
    r->count++;
    return true;
}

// The marks are exact up to the first zero byte; above it there may be false ones, which the slots refute.
static uint64_t zero_bytes(uint64_t word) {
    return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

// The next slot at or behind `at` that holds the hash; SIZE_MAX when an empty slot comes first.
static size_t run_find(const run *r, uint64_t hash, size_t at) {
    const uint8_t *tag = run_tags(r);
    const uint64_t wanted = tag_of(hash) * UINT64_C(0x0101010101010101);
    for (;; at += 8) {
        uint64_t word = word_at(tag + at), empty = zero_bytes(word), same = zero_bytes(word ^ wanted);
        if (empty != 0) same &= (empty & -empty) - 1;
        for (; same != 0; same &= same - 1) {
            size_t found = at + (size_t)__builtin_ctzll(same) / 8;
            if (run_slots(r)[found].hash == hash) return found;
        }
        if (empty != 0) return SIZE_MAX;
    }
}

// ---- Look-up -------------------------------------------------------------------------------------

typedef struct { uint32_t feed; const feed *held; uint64_t *here, *there; } query;

// One candidate for id `i`. `here` takes the place in the asked feed, `there` any other live place.
static int judge(view *v, query *q, size_t i, uint64_t loc) {
    if (LOC_FEED(loc) == q->feed) {
        if (feed_holds(q->held, LOC_ORD(loc))) q->here[i] = loc;
        return 0;
    }
    if (q->there == NULL || q->there[i] != NOWHERE) return 0;
    feed *f = feed_at(v, LOC_FEED(loc));
    if (f == NULL) return ENOMEM;
    if (feed_holds(f, LOC_ORD(loc))) q->there[i] = loc;
    return 0;
}

static int find_recent(view *v, query *q, const uint64_t *hash, size_t count) {
    const table *t = &v->recent;
    if (t->count == 0) return 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t at = hash[i] & t->mask; t->slot[at].loc != NOWHERE; at = (at + 1) & t->mask) {
            if (t->slot[at].hash != hash[i]) continue;
            int code = judge(v, q, i, t->slot[at].loc);
            if (code != 0) return code;
        }
    }
    return 0;
}

// Most probes are cache misses: all those of a run are under way before the first is waited for.
static void prefetch(const query *q, const run *r, const uint64_t *hash, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (q->here[i] == NOWHERE) __builtin_prefetch(run_tags(r) + home(r, hash[i]));
}

static int find_left(view *v, query *q, const run *r, const uint64_t *hash, size_t first, const uint32_t *left,
                     size_t lefts) {
    for (size_t k = 0; k < lefts; k++) {
        size_t i = first + left[k], at = run_find(r, hash[i], home(r, hash[i]));
        for (; at != SIZE_MAX; at = run_find(r, hash[i], at + 1)) {
            int code = judge(v, q, i, run_slots(r)[at].loc);
            if (code != 0) return code;
        }
    }
    return 0;
}

// Can the tags of the first bucket not rule the hash out? It is full, or has an equal tag.
static bool maybe(const run *r, uint64_t hash) {
    const uint8_t *tag = run_tags(r) + home(r, hash);
    const uint64_t wanted = tag_of(hash) * UINT64_C(0x0101010101010101);
    uint64_t low = word_at(tag), high = word_at(tag + 8);
    return ((zero_bytes(low ^ wanted) | zero_bytes(high ^ wanted)) != 0) | (tag[BUCKET - 1] != 0);
}

// Asks one run for all ids still open: first the tags without a branch, then those few that are left.
static int find_in_run(view *v, query *q, const run *r, const uint64_t *hash, size_t count) {
    for (size_t first = 0; first < count; first += GROUP) {
        uint32_t left[GROUP];
        size_t lefts = 0, end = count - first < GROUP ? count : first + GROUP;
        for (size_t i = first; i < end; i++) {
            left[lefts] = (uint32_t)(i - first);
            lefts += maybe(r, hash[i]) & (q->here[i] == NOWHERE);
        }
        int code = find_left(v, q, r, hash, first, left, lefts);
        if (code != 0) return code;
    }
    return 0;
}

int find_all(view *v, uint32_t feed, const uint64_t *hash, size_t count, uint64_t *here, uint64_t *there) {
    query q = {feed, feed == NO_FEED ? NULL : feed_at(v, feed), here, there};
    if (q.held == NULL && feed != NO_FEED) return ENOMEM;
    for (size_t i = 0; i < count; i++) here[i] = NOWHERE;
    for (size_t i = 0; there != NULL && i < count; i++) there[i] = NOWHERE;
    int code = find_recent(v, &q, hash, count);
    const run *r = NULL, *next;
    for (uint32_t i = 0; code == 0 && i <= v->state.runs; i++, r = next) {
        next = i < v->state.runs ? run_at(v, i) : NULL;
        if (next == NULL && i < v->state.runs) return MDB_CORRUPTED;
        if (next != NULL) prefetch(&q, next, hash, count);
        if (r != NULL) code = find_in_run(v, &q, r, hash, count);
    }
    return code;
}

static int add_place(peer *p, uint64_t loc, size_t *count) {
    feed *f = feed_at(&p->write, LOC_FEED(loc));
    if (f == NULL) return ENOMEM;
    if (!feed_holds(f, LOC_ORD(loc))) return 0;
    if (*count == p->hash_room && grow_hashes(p, 2 * *count + 64) != 0) return ENOMEM;
    p->hash[(*count)++] = loc;
    return 0;
}

int find_places(peer *p, uint64_t hash, size_t *count) {
    view *v = &p->write;
    const table *t = &v->recent;
    int code = 0;
    for (size_t at = hash & t->mask; t->count > 0 && t->slot[at].loc != NOWHERE; at = (at + 1) & t->mask)
        if (code == 0 && t->slot[at].hash == hash) code = add_place(p, t->slot[at].loc, count);
    for (uint32_t i = 0; code == 0 && i < v->state.runs; i++) {
        const run *r = run_at(v, i);
        if (r == NULL) return MDB_CORRUPTED;
        size_t at = run_find(r, hash, home(r, hash));
        for (; code == 0 && at != SIZE_MAX; at = run_find(r, hash, at + 1))
            code = add_place(p, run_slots(r)[at].loc, count);
    }
    return code;
}

// ---- Flush and merge -----------------------------------------------------------------------------

static int level(uint64_t count) {
    int l = 0;
    for (uint64_t most = 1024; count >= most; most *= FAN_OUT) l++;
    return l;
}

// Chooses what the new run of `count` entries swallows: while its level is full, all runs up to it.
static uint64_t choose(const state_record *s, uint64_t count, bool *swallow) {
    uint64_t total = count;
    memset(swallow, 0, MAX_RUNS * sizeof *swallow);
    for (;;) {
        int now = level(total), same = 0;
        for (uint32_t i = 0; i < s->runs; i++) same += !swallow[i] && level(s->run[i].count) == now;
        if (same < FAN_OUT - 1 && s->runs < MAX_RUNS - 1) return total;
        uint64_t before = total;
        for (uint32_t i = 0; i < s->runs; i++) {
            if (swallow[i] || level(s->run[i].count) > now) continue;
            swallow[i] = true;
            total += s->run[i].count;
        }
        if (total == before) return total;
    }
}

static bool add_log(run *r, const uint64_t *log, size_t words) {
    for (size_t at = 0; at < words; at += LOG_HEAD + LOG_COUNT(log[at + 1])) {
        if (LOG_KIND(log[at + 1]) != LOG_INSERT) continue;
        for (uint32_t i = 0; i < LOG_COUNT(log[at + 1]); i++) {
            entry e = {mix(log[at + LOG_HEAD + i]), log[at + 2] | (i < 255 ? i : 255)};
            if (!run_add(r, e)) return false;
        }
    }
    return true;
}

static uint64_t count_log(const uint64_t *log, size_t words) {
    uint64_t count = 0;
    for (size_t at = 0; at < words; at += LOG_HEAD + LOG_COUNT(log[at + 1]))
        if (LOG_KIND(log[at + 1]) == LOG_INSERT) count += LOG_COUNT(log[at + 1]);
    return count;
}

// Sources are sorted, so the insertions walk the target from its start to its end. Dead entries stay out.
static int merge_in(view *v, run *target, const run *source, bool *fits) {
    for (uint32_t i = 0; i < source->slots; i++) {
        if (run_tags(source)[i] == 0) continue;
        entry e = run_slots(source)[i];
        feed *f = feed_at(v, LOC_FEED(e.loc));
        if (f == NULL) return ENOMEM;
        if (!feed_holds(f, LOC_ORD(e.loc))) continue;
        *fits = run_add(target, e);
        if (!*fits) return 0;
    }
    return 0;
}

static int fill_run(peer *p, run *r, const bool *swallow, bool *fits) {
    view *v = &p->write;
    for (uint32_t i = 0; i < v->state.runs; i++) {
        if (!swallow[i]) continue;
        const run *source = run_at(v, i);
        int code = source == NULL ? MDB_CORRUPTED : merge_in(v, r, source, fits);
        if (code != 0 || !*fits) return code;
    }
    *fits = add_log(r, v->tail, v->state.used) && add_log(r, p->word, p->words);
    return 0;
}

static int drop_swallowed(view *v, const bool *swallow) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->state.runs; i++) {
        if (!swallow[i]) {
            v->run[kept] = v->run[i];
            v->state.run[kept++] = v->state.run[i];
            continue;
        }
        uint64_t key = KEY_RUN(v->state.run[i].number);
        MDB_val k = {sizeof key, &key};
        int code = mdb_del(v->txn, v->dbi, &k, NULL);
        if (code != 0) return code;
    }
    v->state.runs = kept;
    return 0;
}

static int write_run(peer *p) {
    view *v = &p->write;
    bool swallow[MAX_RUNS], fits = false;
    uint64_t fresh = count_log(v->tail, v->state.used) + count_log(p->word, p->words);
    if (fresh == 0) return 0;
    uint64_t total = choose(&v->state, fresh, swallow), number = v->state.next_run++;
    uint64_t buckets = (total + total * 2 / 5) / BUCKET + 1, slack = 64 + (total < 1024 ? total : 1024);
    run *r = NULL;
    while (!fits) {         // the slack behind the last bucket nearly always suffices
        uint64_t slots = buckets * BUCKET + slack / BUCKET * BUCKET;
        if (slots < LEAST_SLOTS) slots = LEAST_SLOTS;
        if (slots > UINT32_MAX) return MDB_MAP_FULL;
        MDB_val value = {run_size(slots), NULL};
        int code = put(v, KEY_RUN(number), &value, MDB_RESERVE);
        if (code != 0) return code;
        r = value.mv_data;
        run_init(r, number, (uint32_t)buckets, (uint32_t)slots);
        fits = true;
        code = fill_run(p, r, swallow, &fits);
        if (code != 0) return code;
        slack = slack * 4;
    }
    r->check = checksum(&r->number, run_size(r->slots) - 8);
    uint64_t count = r->count;
    int code = drop_swallowed(v, swallow);
    v->run[v->state.runs] = NULL;       // where it will lie is known after the commit
    v->state.run[v->state.runs++] = (run_ref){number, count};
    return code;
}

// A chunk of log records; chunks out of the ring's reach go.
static int write_chunk(peer *p) {
    view *v = &p->write;
    size_t words = v->state.used + p->words;
    MDB_val value = {sizeof(chunk_record) + words * 8, NULL};
    int code = put(v, KEY_CHUNK(v->state.next_chunk++), &value, MDB_RESERVE);
    if (code != 0) return code;
    uint8_t *at = value.mv_data;        // perhaps in a leaf: not aligned
    memcpy(at + 8, &v->state.generation, 8);
    memcpy(at + sizeof(chunk_record), v->tail, v->state.used * 8);
    if (p->words > 0) memcpy(at + sizeof(chunk_record) + v->state.used * 8, p->word, p->words * 8);
    uint64_t check = checksum(at + 8, value.mv_size - 8);
    memcpy(at, &check, 8);
    while (v->state.first_chunk < v->state.next_chunk) {
        uint64_t key = KEY_CHUNK(v->state.first_chunk);
        MDB_val k = {sizeof key, &key}, old;
        if ((code = get(v, key, &old)) != 0) return code;
        if (word_at((uint8_t *)old.mv_data + 8) + LOG_KEPT > v->state.generation) return 0;
        if ((code = mdb_del(v->txn, v->dbi, &k, NULL)) != 0) return code;
        v->state.first_chunk++;
    }
    return 0;
}

int flush_tail(peer *p) {
    view *v = &p->write;
    int code = write_run(p);
    if (code == 0) code = write_chunk(p);
    v->state.used = 0;
    v->state.flushes++;
    return code;
}
