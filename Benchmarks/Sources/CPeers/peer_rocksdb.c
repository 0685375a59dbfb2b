// rocksdb: the page-blob layout on a log-structured store. (Writing is in rocks_write.c.)
// - Family "pages": (feed, ord) -> page blob. Family "ids": (id, feed) -> ord. Family "feeds": head, pages.
//   Keys big-endian, so that pages of a feed and feeds of an id are neighbours.
// - Bloom filters of 10 bits over whole ids keys (a duplicate check of an unknown id costs no block) and over
//   the id prefix (does any feed hold it?), in memtables as well.
// - mmap reads without compression: a page is read where the kernel has it, as with the other engines;
//   no checksum on reading, as with the other engines.
// - One WriteBatch per call; sync=true flushes the log once per call, sync=false leaves it to the kernel.
// - A prune deletes a range of pages, and the ids one by one: answers stay exact.
#define _GNU_SOURCE
#include "rocks_common.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char version[32];

int rocks_complain(peer *p, const char *text) {
    snprintf(p->error, sizeof p->error, "rocksdb: %s", text);
    return -1;
}

int rocks_fail(peer *p, char *error) {
    if (error == NULL) return 0;
    rocks_complain(p, error);
    rocksdb_free(error);
    return -1;
}

// ---- Keys and look-ups ---------------------------------------------------------------------------

static void put_half(char *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, 4);
}

uint32_t key_half(const char *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return __builtin_bswap32(value);
}

void page_key(char *key, uint32_t feed, uint32_t ord) {
    put_half(key, feed);
    put_half(key + 4, ord);
}

void id_key(char *key, uint64_t id, uint32_t feed) {
    id = __builtin_bswap64(id);
    memcpy(key, &id, 8);
    put_half(key + 8, feed);
}

int get_feed(peer *p, const rocksdb_readoptions_t *options, uint32_t feed, feed_record *out) {
    char key[FEED_KEY], *error = NULL;
    size_t size = 0;
    put_half(key, feed);
    *out = (feed_record){feed, UINT32_C(1) << 31, 0};
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf(p->store->db, options, p->store->family[FEEDS], key, sizeof key, &error);
    if (slice != NULL) {
        const char *value = rocksdb_pinnableslice_value(slice, &size);
        if (size == sizeof *out) memcpy(out, value, size);
        rocksdb_pinnableslice_destroy(slice);
    }
    return rocks_fail(p, error);
}

rocksdb_pinnableslice_t *get_page(peer *p, const rocksdb_readoptions_t *options, uint32_t feed, uint32_t ord,
                                  blob_page *out) {
    char key[PAGE_KEY], *error = NULL;
    size_t size = 0;
    page_key(key, feed, ord);
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf(p->store->db, options, p->store->family[PAGES], key, sizeof key, &error);
    if (rocks_fail(p, error) != 0) return NULL;
    const char *value = slice == NULL ? NULL : rocksdb_pinnableslice_value(slice, &size);
    if (value != NULL && blob_open(value, size, out)) return slice;
    if (slice != NULL) rocksdb_pinnableslice_destroy(slice);
    rocks_complain(p, "page is missing or damaged");
    return NULL;
}

// ---- Open and close ------------------------------------------------------------------------------

static rocksdb_options_t *new_options(rocksdb_cache_t *cache, int family) {
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_options_set_create_if_missing(o, 1);
    rocksdb_options_set_create_missing_column_families(o, 1);
    rocksdb_options_set_compression(o, rocksdb_no_compression);
    rocksdb_options_set_allow_mmap_reads(o, 1);
    rocksdb_options_set_max_background_jobs(o, 2);
    rocksdb_options_set_max_open_files(o, -1);
    rocksdb_options_set_write_buffer_size(o, (size_t)64 << 20);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
    rocksdb_options_set_keep_log_file_num(o, 2);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    if (family == IDS) {
        rocksdb_options_set_prefix_extractor(o, rocksdb_slicetransform_create_fixed_prefix(8));
        rocksdb_options_set_memtable_prefix_bloom_size_ratio(o, 0.1);
    }
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
    return o;
}

static void close_store(store *s) {
    for (int i = 0; i < FAMILIES; i++)
        if (s->family[i] != NULL) rocksdb_column_family_handle_destroy(s->family[i]);
    if (s->db != NULL) rocksdb_close(s->db);
    for (int i = 0; i < FAMILIES; i++)
        if (s->options[i] != NULL) rocksdb_options_destroy(s->options[i]);
    if (s->cache != NULL) rocksdb_cache_destroy(s->cache);
    free(s);
}

static peer *new_peer(store *s, int durability) {
    peer *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->store = s;
    p->read = rocksdb_readoptions_create();
    p->seek = rocksdb_readoptions_create();
    p->write = rocksdb_writeoptions_create();
    p->batch = rocksdb_writebatch_create();
    rocksdb_readoptions_set_verify_checksums(p->read, 0);
    rocksdb_readoptions_set_verify_checksums(p->seek, 0);
    rocksdb_readoptions_set_prefix_same_as_start(p->seek, 1);
    rocksdb_writeoptions_set_sync(p->write, durability != PEER_RELAXED);
    return p;
}

static void rocks_close(peer *p) {
    if (p == NULL) return;
    rocksdb_readoptions_destroy(p->read);
    rocksdb_readoptions_destroy(p->seek);
    rocksdb_writeoptions_destroy(p->write);
    rocksdb_writebatch_destroy(p->batch);
    if (atomic_fetch_sub(&p->store->users, 1) == 1) close_store(p->store);
    arena_free(&p->bodies);
    free(p->pending);
    free(p->feed);
    free(p->own);
    free(p);
}

// The C API does not tell the library's version; the library writes it into its log.
static void find_version(const char *path) {
    char name[4200], line[400];
    snprintf(name, sizeof name, "%s/LOG", path);
    FILE *log = fopen(name, "r");
    if (log == NULL) return;
    for (int i = 0; i < 50 && fgets(line, sizeof line, log) != NULL; i++) {
        const char *at = strstr(line, "RocksDB version: ");
        if (at != NULL && sscanf(at, "RocksDB version: %31s", version) == 1) break;
    }
    fclose(log);
}

static int rocks_open(const char *folder, int durability, peer **out) {
    const char *names[FAMILIES] = {"default", "ids", "feeds"};
    char path[4096], *error = NULL;
    store *s = calloc(1, sizeof *s);
    *out = s == NULL ? NULL : new_peer(s, durability);
    if (*out == NULL) {
        free(s);
        return -1;
    }
    atomic_init(&s->users, 1);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return rocks_complain(*out, strerror(errno));
    snprintf(path, sizeof path, "%s/rocks", folder);
    s->cache = rocksdb_cache_create_lru((size_t)64 << 20);
    for (int i = 0; i < FAMILIES; i++) s->options[i] = new_options(s->cache, i);
    s->db = rocksdb_open_column_families(s->options[PAGES], path, FAMILIES, names,
                                         (const rocksdb_options_t *const *)s->options, s->family, &error);
    find_version(path);
    return rocks_fail(*out, error);
}

static int rocks_open_reader(peer *writer, peer **out) {
    *out = new_peer(writer->store, PEER_RELAXED);
    if (*out == NULL) return rocks_complain(writer, "out of memory");
    atomic_fetch_add(&writer->store->users, 1);
    return 0;
}

static const char *rocks_error(peer *p) { return p == NULL ? "out of memory" : p->error; }

// ---- Reading -------------------------------------------------------------------------------------

static const rocksdb_snapshot_t *snapshot(peer *p) {
    const rocksdb_snapshot_t *snap = rocksdb_create_snapshot(p->store->db);
    rocksdb_readoptions_set_snapshot(p->read, snap);
    return snap;
}

static void release(peer *p, const rocksdb_snapshot_t *snap) {
    rocksdb_readoptions_set_snapshot(p->read, NULL);
    rocksdb_release_snapshot(p->store->db, snap);
}

static int read_pages(peer *p, uint32_t number, uint64_t index, uint64_t pages, peer_read *out) {
    feed_record feed;
    blob_page page;
    if (get_feed(p, p->read, number, &feed) != 0) return -1;
    if (index >= feed.pages) return 0;
    uint64_t end = pages < feed.pages - index ? index + pages : feed.pages;
    if (end - index <= 2) {         // gets use the Bloom filters and skip the iterator
        for (; index < end; index++) {
            rocksdb_pinnableslice_t *slice = get_page(p, p->read, number, feed.head + (uint32_t)index, &page);
            if (slice == NULL) return -1;
            blob_sum(&page, out);
            rocksdb_pinnableslice_destroy(slice);
        }
        return 0;
    }
    char key[PAGE_KEY], *error = NULL;
    page_key(key, number, feed.head + (uint32_t)index);
    rocksdb_iterator_t *i = rocksdb_create_iterator_cf(p->store->db, p->read, p->store->family[PAGES]);
    int failed = 0;
    for (rocksdb_iter_seek(i, key, sizeof key); index < end && failed == 0; index++, rocksdb_iter_next(i)) {
        size_t size = 0;
        const char *value = rocksdb_iter_valid(i) ? rocksdb_iter_value(i, &size) : NULL;
        if (value != NULL && blob_open(value, size, &page)) blob_sum(&page, out);
        else failed = rocks_complain(p, "page is missing or damaged");
    }
    rocksdb_iter_get_error(i, &error);
    rocksdb_iter_destroy(i);
    return rocks_fail(p, error) != 0 ? -1 : failed;
}

static int rocks_scroll(peer *p, uint32_t feed, uint64_t index, uint64_t pages, peer_read *out) {
    *out = (peer_read){0};
    if (pages == 0) return 0;
    const rocksdb_snapshot_t *snap = snapshot(p);
    int failed = read_pages(p, feed, index, pages, out);
    release(p, snap);
    return failed;
}

static int rocks_read_page(peer *p, uint32_t feed, uint64_t index, peer_read *out) {
    return rocks_scroll(p, feed, index, 1, out);
}

// A batch of look-ups in one family sees one state, without a snapshot.
static int rocks_contains(peer *p, uint32_t feed, const uint64_t *ids, size_t count, uint8_t *found) {
    enum { MOST = 128 };
    char key[MOST][ID_KEY], *errors[MOST];
    const char *keys[MOST];
    size_t sizes[MOST];
    rocksdb_pinnableslice_t *values[MOST];
    const rocksdb_snapshot_t *snap = count > MOST ? snapshot(p) : NULL;
    int failed = 0;
    for (size_t done = 0; done < count; done += MOST) {
        size_t part = count - done < MOST ? count - done : MOST;
        for (size_t i = 0; i < part; i++) {
            id_key(key[i], ids[done + i], feed);
            keys[i] = key[i];
            sizes[i] = ID_KEY;
        }
        rocksdb_batched_multi_get_cf(p->store->db, p->read, p->store->family[IDS], part, keys, sizes, values,
                                     errors, false);
        for (size_t i = 0; i < part; i++) {
            if (errors[i] != NULL) failed = rocks_fail(p, errors[i]);
            found[done + i] = values[i] != NULL;
            if (values[i] != NULL) rocksdb_pinnableslice_destroy(values[i]);
        }
    }
    if (snap != NULL) release(p, snap);
    return failed;
}

static int find_post(peer *p, uint64_t id, peer_read *out) {
    char key[ID_KEY], *error = NULL;
    size_t size = 0;
    blob_page page;
    uint32_t slot, length, feed = 0, ord = 0;
    id_key(key, id, 0);
    rocksdb_iterator_t *i = rocksdb_create_iterator_cf(p->store->db, p->seek, p->store->family[IDS]);
    rocksdb_iter_seek(i, key, 8);
    bool held = rocksdb_iter_valid(i);
    if (held) {
        feed = key_half(rocksdb_iter_key(i, &size) + 8);
        ord = key_half(rocksdb_iter_value(i, &size));
    }
    rocksdb_iter_get_error(i, &error);
    rocksdb_iter_destroy(i);
    if (rocks_fail(p, error) != 0) return -1;
    if (!held) return 0;
    rocksdb_pinnableslice_t *slice = get_page(p, p->read, feed, ord, &page);
    if (slice == NULL) return -1;
    bool there = blob_slot(&page, id, &slot);
    if (there) {
        const uint8_t *body = blob_body(&page, slot, &length);
        *out = (peer_read){peer_sum(body, length), 1, length};
    }
    rocksdb_pinnableslice_destroy(slice);
    return there ? 0 : rocks_complain(p, "index names a wrong page");
}

static int rocks_post(peer *p, uint64_t id, peer_read *out) {
    *out = (peer_read){0};
    const rocksdb_snapshot_t *snap = snapshot(p);
    rocksdb_readoptions_set_snapshot(p->seek, snap);
    int failed = find_post(p, id, out);
    rocksdb_readoptions_set_snapshot(p->seek, NULL);
    release(p, snap);
    return failed;
}

static uint64_t rocks_page_count(peer *p, uint32_t number) {
    feed_record feed;
    return get_feed(p, p->read, number, &feed) == 0 ? feed.pages : 0;
}

const peer_engine peer_rocksdb = {
    .name = "rocksdb",
    .version = version,
    .about = "page blobs, ids by (id, feed) with Bloom 10 bits; mmap reads, no compression, 64 MB write buffer and "
             "cache, WriteBatch with sync=true (relaxed: false)",
    .open = rocks_open,
    .close = rocks_close,
    .error = rocks_error,
    .append = rocks_append,
    .prepend = rocks_prepend,
    .update = rocks_update,
    .prune = rocks_prune,
    .read_page = rocks_read_page,
    .scroll = rocks_scroll,
    .contains = rocks_contains,
    .post = rocks_post,
    .page_count = rocks_page_count,
    .open_reader = rocks_open_reader,
};
